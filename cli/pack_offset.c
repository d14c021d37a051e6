/*
 * The offset that `pack` commits with each TGB.
 *
 *     {"pack":1,"L":2048,"M":1,"cp":"contiguous","type":"u16","labels":0,
 *      "pad":256,"shard":"0/4","file":12,"at":345,"name":"...","sum":"...",
 *      "names":"...","before":"..."}
 *
 * Up to `shard` it says how it packs: going on in another way would leave a
 * stream that no trainer expects. The others are a struct source_place.
 */
#include "pack_offset.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report.h"

#define FORMAT_VERSION 1

size_t pack_offset_write(const struct pack_plan *plan,
                         const struct source_place *place,
                         char text[LKS_OFFSET_SIZE_MAX + 1])
{
    int length =
        snprintf(text, LKS_OFFSET_SIZE_MAX + 1,
                 "{\"pack\":%d,\"L\":%" PRIu64 ",\"M\":%" PRIu64
                 ",\"cp\":\"%s\","
                 "\"type\":\"%s\",\"labels\":%d,\"pad\":%" PRId64
                 ",\"shard\":\"%" PRIu64 "/%" PRIu64 "\",\"file\":%" PRIu64
                 ",\"at\":%" PRIu64 ",\"name\":\"%s\","
                 "\"sum\":\"%s\",\"names\":\"%s\",\"before\":\"%s\"}",
                 FORMAT_VERSION, plan->seq_len, plan->micro_batch,
                 plan->zigzag ? "zigzag" : "even", token_type_name(plan->type),
                 plan->labels, plan->pad_token, plan->shard, plan->shard_count,
                 place->file, place->at, place->name, place->sum, place->names,
                 place->before);

    assert(length > 0);
    assert((size_t)length <= LKS_OFFSET_SIZE_MAX);
    return (size_t)length;
}

static enum lks_status differs(const char *option,
                               const char *was,
                               struct lks_error *error)
{
    return fail(error, LKS_INVALID,
                "this producer has packed with %s %s; go "
                "on with that, or use another --producer",
                option, was);
}

static enum lks_status check_number(const char *option,
                                    json_int_t was,
                                    uint64_t is,
                                    struct lks_error *error)
{
    char text[32];

    if (was == (json_int_t)is)
        return LKS_OK;
    snprintf(text, sizeof(text), "%" JSON_INTEGER_FORMAT, was);
    return differs(option, text, error);
}

static enum lks_status check_text(const char *option,
                                  const char *was,
                                  const char *is,
                                  struct lks_error *error)
{
    return strcmp(was, is) == 0 ? LKS_OK : differs(option, was, error);
}

static enum lks_status check_plan(json_t *offset,
                                  const struct pack_plan *plan,
                                  struct lks_error *error)
{
    const char *layout = "", *type = "", *shard = "";
    json_int_t seq_len = 0, micro_batch = 0, labels = 0;
    json_int_t pad_token = plan->pad_token; /* older offsets have none */
    enum lks_status status;
    char text[64];

    if (json_unpack(offset, "{s:I, s:I, s:s, s:s, s:I, s?I, s:s}", "L",
                    &seq_len, "M", &micro_batch, "cp", &layout, "type", &type,
                    "labels", &labels, "pad", &pad_token, "shard", &shard) != 0)
        return fail(error, LKS_INVALID, "the producer's offset is damaged");

    snprintf(text, sizeof(text), "%" PRIu64 "/%" PRIu64, plan->shard,
             plan->shard_count);
    status = check_number("--seq-len", seq_len, plan->seq_len, error);
    if (status == LKS_OK)
        status = check_number("--micro-batch", micro_batch, plan->micro_batch,
                              error);
    if (status == LKS_OK)
        status = check_text("--cp-layout",
                            strcmp(layout, "even") == 0 ? "contiguous" : layout,
                            pack_plan_cp_layout(plan), error);
    if (status == LKS_OK && labels != plan->labels)
        status = fail(error, LKS_INVALID,
                      "this producer has packed %s "
                      "--labels; go on so, or use another --producer",
                      labels ? "with" : "without");
    if (status == LKS_OK)
        status = check_number("--pad-token", pad_token,
                              (uint64_t)plan->pad_token, error);
    if (status == LKS_OK)
        status = check_text("--shard", shard, text, error);
    if (status == LKS_OK)
        status = check_text("tokens of type", type, token_type_name(plan->type),
                            error);
    return status;
}

/* Nothing, or all the digits that there is room for. */
static bool copy_hex(char *to, size_t size, const char *from)
{
    size_t length = strspn(from, "0123456789abcdef");

    if (from[length] != '\0' || (length > 0 && length + 1 != size))
        return false;
    memcpy(to, from, length + 1);
    return true;
}

/* Pack writes nothing that JSON must escape, so nothing that is shown of an
 * offset can have control characters. */
static bool is_plain(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (data[i] < 0x20 || data[i] > 0x7e || data[i] == '\\')
            return false;
    }
    return true;
}

static enum lks_status read_place(json_t *offset,
                                  struct source_place *out_place,
                                  struct lks_error *error)
{
    const char *name = "", *sum = "", *names = "", *before = "";
    json_int_t file = -1, at = -1;
    struct source_place place = {0};

    if (json_unpack(offset, "{s:I, s:I, s:s, s:s, s:s, s:s}", "file", &file,
                    "at", &at, "name", &name, "sum", &sum, "names", &names,
                    "before", &before) != 0 ||
        file < 0 || at < 0 || !copy_hex(place.name, sizeof(place.name), name) ||
        !copy_hex(place.sum, sizeof(place.sum), sum) ||
        !copy_hex(place.names, sizeof(place.names), names) ||
        !copy_hex(place.before, sizeof(place.before), before))
        return fail(error, LKS_INVALID, "the producer's offset is damaged");
    place.file = (uint64_t)file;
    place.at = (uint64_t)at;
    *out_place = place;
    return LKS_OK;
}

enum lks_status pack_offset_read(const void *data,
                                 size_t size,
                                 const struct pack_plan *plan,
                                 struct source_place *out_place,
                                 struct lks_error *error)
{
    json_t *offset =
        is_plain(data, size) ? json_loadb(data, size, 0, NULL) : NULL;
    json_int_t version = 0;
    enum lks_status status;

    if (json_unpack(offset, "{s:I}", "pack", &version) != 0)
        status = fail(error, LKS_INVALID,
                      "the last TGB of this producer was "
                      "not appended by pack; use another --producer");
    else if (version != FORMAT_VERSION)
        status = fail(error, LKS_UNSUPPORTED,
                      "this producer has packed with "
                      "another version of lakestream; go on with that");
    else
        status = check_plan(offset, plan, error);
    if (status == LKS_OK)
        status = read_place(offset, out_place, error);
    json_decref(offset);
    return status;
}
