/*
 * Descriptors: JSON that people can read, and that still notices one flipped
 * bit.
 *
 * docs/format.md, "Descriptor".
 */
#include "format/descriptor.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "format/json_text.h"
#include "format/message.h"

enum lks_status lks_mesh_check(uint32_t dp,
                               uint32_t cp,
                               struct lks_error *error)
{
    if (dp == 0 || cp == 0)
        return lks_error_set(error, LKS_INVALID,
                             "a mesh of %" PRIu32 " x %" PRIu32 " has no ranks",
                             dp, cp);
    if ((uint64_t)dp * cp > LKS_SLICE_COUNT_MAX)
        return lks_error_set(error, LKS_INVALID,
                             "a mesh of %" PRIu32 " x %" PRIu32
                             " has more than %u slices",
                             dp, cp, LKS_SLICE_COUNT_MAX);
    return LKS_OK;
}

/* ------------------------------------------------------------ encoding -- */

static enum lks_status check_numbers(const struct lks_descriptor *descriptor,
                                     struct lks_error *error)
{
    if (descriptor->max_live_steps > LKS_STEP_MAX ||
        descriptor->max_live_bytes > LKS_STEP_MAX ||
        descriptor->first_step > LKS_STEP_MAX)
        return lks_error_set(error, LKS_INVALID,
                             "a number of the stream's is past 2^63 - 1");
    return lks_mesh_check(descriptor->dp, descriptor->cp, error);
}

/* NULL when memory is out. */
static json_t *make_object(const struct lks_descriptor *descriptor)
{
    char stream[2 * LKS_ID_SIZE + 1];

    lks_hex_encode(descriptor->stream, LKS_ID_SIZE, stream);
    return json_pack("{s:I, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:[]}",
                     "format", (json_int_t)LKS_FORMAT_VERSION, "stream", stream,
                     "dp", (json_int_t)descriptor->dp, "cp",
                     (json_int_t)descriptor->cp, "producers",
                     (json_int_t)descriptor->producers_to_end, "max_live_steps",
                     (json_int_t)descriptor->max_live_steps, "max_live_bytes",
                     (json_int_t)descriptor->max_live_bytes, "first_step",
                     (json_int_t)descriptor->first_step, "created_ms",
                     (json_int_t)descriptor->created_ms, "required");
}

static enum lks_status add_probe(const struct lks_descriptor *descriptor,
                                 json_t *object,
                                 struct lks_error *error)
{
    enum lks_status status;
    json_t *probe;

    if (descriptor->probe == NULL)
        return LKS_OK;
    status = lks_json_parse(descriptor->probe, strlen(descriptor->probe),
                            "probe's result", LKS_INVALID, &probe, error);
    if (status != LKS_OK)
        return status;
    if (json_object_set_new(object, "probe", probe) != 0)
        return lks_error_no_memory(error);
    return LKS_OK;
}

static enum lks_status add_parent(const struct lks_descriptor *descriptor,
                                  json_t *object,
                                  struct lks_error *error)
{
    char stream[2 * LKS_ID_SIZE + 1];
    json_t *parent;

    if (descriptor->parent_url == NULL)
        return LKS_OK;
    lks_hex_encode(descriptor->parent_stream, LKS_ID_SIZE, stream);
    parent = json_pack("{s:s, s:s}", "url", descriptor->parent_url, "stream",
                       stream);
    if (parent == NULL)
        return lks_error_set(error, LKS_INVALID,
                             "the parent's URL cannot stand in JSON");
    if (json_object_set_new(object, "parent", parent) != 0)
        return lks_error_no_memory(error);
    return LKS_OK;
}

static enum lks_status parse_ancestors(const struct lks_descriptor *descriptor,
                                       json_t **out_ancestors,
                                       struct lks_error *error)
{
    json_t *ancestors = descriptor->ancestors == NULL
                            ? json_array()
                            : json_loads(descriptor->ancestors, 0, NULL);

    if (ancestors == NULL)
        return lks_error_no_memory(error);
    *out_ancestors = ancestors;
    return LKS_OK;
}

static enum lks_status add_ancestors(const struct lks_descriptor *descriptor,
                                     json_t *object,
                                     struct lks_error *error)
{
    enum lks_status status;
    json_t *ancestors = NULL;

    if (descriptor->ancestors == NULL)
        return LKS_OK;
    status = parse_ancestors(descriptor, &ancestors, error);
    if (status != LKS_OK)
        return status;
    if (json_object_set_new(object, "ancestors", ancestors) != 0)
        return lks_error_no_memory(error);
    return LKS_OK;
}

enum lks_status lks_descriptor_encode(const struct lks_descriptor *descriptor,
                                      struct lks_buf *buf,
                                      struct lks_error *error)
{
    size_t start = buf->size;
    enum lks_status status;
    json_t *object;

    status = check_numbers(descriptor, error);
    if (status != LKS_OK)
        return status;
    object = make_object(descriptor);
    if (object == NULL)
        return lks_error_no_memory(error);
    status = add_probe(descriptor, object, error);
    if (status == LKS_OK)
        status = add_parent(descriptor, object, error);
    if (status == LKS_OK)
        status = add_ancestors(descriptor, object, error);
    if (status == LKS_OK)
        status = lks_json_seal(object, "descriptor", LKS_DESCRIPTOR_SIZE_MAX,
                               buf, error);
    json_decref(object);
    if (status != LKS_OK)
        buf->size = start;
    return status;
}

/* ------------------------------------------------------------ decoding -- */

static enum lks_status corrupt(const char *problem, struct lks_error *error)
{
    return lks_error_set(error, LKS_CORRUPT,
                         "the stream's descriptor is wrong: %s", problem);
}

/* Whether this library may read what it describes. */
static enum lks_status check_format(const json_t *object,
                                    struct lks_error *error)
{
    const json_t *required = json_object_get(object, "required");
    const char *name;
    uint64_t format;

    if (!lks_json_number(object, "format", INT64_MAX, &format) || format == 0)
        return corrupt("it has no format", error);
    if (format > LKS_FORMAT_VERSION)
        return lks_error_set(error, LKS_UNSUPPORTED,
                             "the stream has format %" PRIu64
                             "; this version of Lakestream reads up to %u",
                             format, LKS_FORMAT_VERSION);
    if (!json_is_array(required))
        return corrupt("\"required\" is no list", error);
    if (json_array_size(required) == 0)
        return LKS_OK;
    name = json_string_value(json_array_get(required, 0));
    if (name == NULL || !lks_text_is_plain(name, strlen(name)))
        return corrupt("\"required\" has no names", error);
    return lks_required_check(1, (char *const *)&name, error);
}

static enum lks_status read_numbers(const json_t *object,
                                    struct lks_descriptor *descriptor,
                                    struct lks_error *error)
{
    const json_t *created = json_object_get(object, "created_ms");
    uint64_t producers;
    uint64_t dp;
    uint64_t cp;

    if (!lks_json_id(object, "stream", descriptor->stream))
        return corrupt("it has no stream id", error);
    if (!lks_json_number(object, "dp", UINT32_MAX, &dp) ||
        !lks_json_number(object, "cp", UINT32_MAX, &cp) ||
        lks_mesh_check((uint32_t)dp, (uint32_t)cp, NULL) != LKS_OK)
        return corrupt("it has no mesh", error);
    if (!lks_json_number(object, "producers", UINT32_MAX, &producers) ||
        !lks_json_number(object, "max_live_steps", LKS_STEP_MAX,
                         &descriptor->max_live_steps) ||
        !lks_json_number(object, "max_live_bytes", LKS_STEP_MAX,
                         &descriptor->max_live_bytes) ||
        !lks_json_number(object, "first_step", LKS_STEP_MAX,
                         &descriptor->first_step) ||
        !json_is_integer(created))
        return corrupt("a number is missing or out of range", error);

    descriptor->format = LKS_FORMAT_VERSION;
    descriptor->dp = (uint32_t)dp;
    descriptor->cp = (uint32_t)cp;
    descriptor->producers_to_end = (uint32_t)producers;
    descriptor->created_ms = json_integer_value(created);
    return LKS_OK;
}

/* A part of the descriptor as a text of its own. */
static enum lks_status take_text(const json_t *part,
                                 char **out_text,
                                 struct lks_error *error)
{
    enum lks_status status;
    struct lks_buf buf;

    lks_buf_init(&buf, LKS_DESCRIPTOR_SIZE_MAX);
    status = lks_json_write(part, &buf, error);
    if (status == LKS_OK) {
        char *text = lks_buf_take_text(&buf);

        if (text == NULL)
            status = lks_error_no_memory(error);
        else
            *out_text = text;
    }
    lks_buf_done(&buf);
    return status;
}

static enum lks_status read_probe(const json_t *object,
                                  struct lks_descriptor *descriptor,
                                  struct lks_error *error)
{
    const json_t *probe = json_object_get(object, "probe");

    if (probe == NULL)
        return LKS_OK;
    if (!json_is_object(probe))
        return corrupt("\"probe\" is no object", error);
    return take_text(probe, &descriptor->probe, error);
}

static enum lks_status read_ancestors(const json_t *object,
                                      struct lks_descriptor *descriptor,
                                      struct lks_error *error)
{
    const json_t *ancestors = json_object_get(object, "ancestors");
    size_t i;
    json_t *ancestor;

    if (ancestors == NULL)
        return LKS_OK;
    if (!json_is_array(ancestors) || json_array_size(ancestors) == 0)
        return corrupt("\"ancestors\" is no list of streams", error);
    json_array_foreach((json_t *)ancestors, i, ancestor)
    {
        uint8_t stream[LKS_ID_SIZE];
        uint64_t step;

        if (!json_is_string(json_object_get(ancestor, "url")) ||
            !lks_json_id(ancestor, "stream", stream) ||
            !lks_json_number(ancestor, "step", LKS_STEP_MAX, &step))
            return corrupt("\"ancestors\" is no list of streams", error);
    }
    return take_text(ancestors, &descriptor->ancestors, error);
}

static enum lks_status read_parent(const json_t *object,
                                   struct lks_descriptor *descriptor,
                                   struct lks_error *error)
{
    const json_t *parent = json_object_get(object, "parent");
    const char *url = json_string_value(json_object_get(parent, "url"));

    if (parent == NULL)
        return LKS_OK;
    if (url == NULL ||
        !lks_json_id(parent, "stream", descriptor->parent_stream))
        return corrupt("\"parent\" names no stream", error);
    descriptor->parent_url = lks_text_dup(url);
    if (descriptor->parent_url == NULL)
        return lks_error_no_memory(error);
    return LKS_OK;
}

static enum lks_status read_object(const json_t *object,
                                   struct lks_descriptor *descriptor,
                                   struct lks_error *error)
{
    enum lks_status status = check_format(object, error);

    if (status == LKS_OK)
        status = read_numbers(object, descriptor, error);
    if (status == LKS_OK)
        status = read_probe(object, descriptor, error);
    if (status == LKS_OK)
        status = read_parent(object, descriptor, error);
    if (status == LKS_OK)
        status = read_ancestors(object, descriptor, error);
    return status;
}

enum lks_status lks_descriptor_decode(const void *data,
                                      size_t size,
                                      struct lks_descriptor *out_descriptor,
                                      struct lks_error *error)
{
    struct lks_descriptor descriptor = {0};
    const char *problem =
        lks_json_seal_problem(data, size, LKS_DESCRIPTOR_SIZE_MAX);
    enum lks_status status;
    json_t *object;

    if (problem != NULL)
        return corrupt(problem, error);
    status = lks_json_parse(data, size, "stream's descriptor", LKS_CORRUPT,
                            &object, error);
    if (status != LKS_OK)
        return status;
    status = read_object(object, &descriptor, error);
    json_decref(object);
    if (status != LKS_OK) {
        lks_descriptor_done(&descriptor);
        return status;
    }
    *out_descriptor = descriptor;
    return LKS_OK;
}

void lks_descriptor_done(struct lks_descriptor *descriptor)
{
    if (descriptor == NULL)
        return;
    lks_free(descriptor->probe);
    lks_free(descriptor->parent_url);
    lks_free(descriptor->ancestors);
    descriptor->probe = NULL;
    descriptor->parent_url = NULL;
    descriptor->ancestors = NULL;
}

/* ------------------------------------------------------------- forking -- */

/* The parent's parent, and those before it. */
static enum lks_status make_ancestors(const struct lks_descriptor *parent,
                                      char **out_text,
                                      struct lks_error *error)
{
    char stream[2 * LKS_ID_SIZE + 1];
    enum lks_status status;
    json_t *ancestors = NULL;
    json_t *nearest;

    status = parse_ancestors(parent, &ancestors, error);
    if (status != LKS_OK)
        return status;
    lks_hex_encode(parent->parent_stream, LKS_ID_SIZE, stream);
    nearest = json_pack("{s:s, s:s, s:I}", "url", parent->parent_url, "stream",
                        stream, "step", (json_int_t)parent->first_step);
    if (nearest == NULL || json_array_insert_new(ancestors, 0, nearest) != 0) {
        json_decref(ancestors);
        return lks_error_no_memory(error);
    }
    if (json_array_size(ancestors) > LKS_ANCESTORS_MAX)
        json_array_remove(ancestors, LKS_ANCESTORS_MAX);
    status = take_text(ancestors, out_text, error);
    json_decref(ancestors);
    return status;
}

enum lks_status lks_descriptor_fork(const struct lks_descriptor *parent,
                                    const char *parent_url,
                                    uint64_t step,
                                    struct lks_descriptor *out_fork,
                                    struct lks_error *error)
{
    struct lks_descriptor fork = {
        .format = LKS_FORMAT_VERSION,
        .dp = parent->dp,
        .cp = parent->cp,
        .producers_to_end = parent->producers_to_end,
        .first_step = step,
    };
    enum lks_status status = LKS_OK;

    memcpy(fork.parent_stream, parent->stream, LKS_ID_SIZE);
    fork.parent_url = lks_text_dup(parent_url);
    if (fork.parent_url == NULL)
        return lks_error_no_memory(error);
    if (parent->parent_url != NULL)
        status = make_ancestors(parent, &fork.ancestors, error);
    if (status != LKS_OK) {
        lks_descriptor_done(&fork);
        return status;
    }
    *out_fork = fork;
    return LKS_OK;
}
