/*
 * What a newer library wrote: its fields survive whatever this one builds on
 * them, and what it says is required is refused.
 */
#include "format/index.h"
#include "format/lakestream.pb-c.h"
#include "support/check.h"
#include "support/format_fixture.h"

#define TAG 1000

/* Gives the message an unknown field with a text of its own. */
static void mark(ProtobufCMessage *message)
{
    ProtobufCMessageUnknownField *field = calloc(1, sizeof(*field));
    static const uint8_t text[6] = "\5later";

    assert_non_null(field);
    field->tag = TAG;
    field->wire_type = PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED;
    field->len = sizeof(text);
    field->data = malloc(sizeof(text));
    assert_non_null(field->data);
    memcpy(field->data, text, sizeof(text));
    message->n_unknown_fields = 1;
    message->unknown_fields = field;
}

static void count_mark(ProtobufCMessage *message, unsigned *count)
{
    for (unsigned i = 0; i < message->n_unknown_fields; i++) {
        const ProtobufCMessageUnknownField *field = &message->unknown_fields[i];

        if (field->tag == TAG && field->len == 6 &&
            memcmp(field->data, "\5later", 6) == 0)
            (*count)++;
    }
}

static void add_group_and_pin(Lks__ManifestControl *control)
{
    Lks__Group *group = malloc(sizeof(*group));
    Lks__Pin *pin = malloc(sizeof(*pin));

    lks__group__init(group);
    group->name = strdup("train");
    group->run = malloc(sizeof(*group->run));
    lks__run__init(group->run);
    group->run->id = strdup("job-17");
    group->run->ranks = 8;
    control->n_groups = 1;
    control->groups = calloc(1, sizeof(group));
    control->groups[0] = group;

    lks__pin__init(pin);
    pin->name = strdup("best");
    control->n_pins = 1;
    control->pins = calloc(1, sizeof(pin));
    control->pins[0] = pin;

    control->ring = malloc(sizeof(*control->ring));
    lks__ring__init(control->ring);
    control->ring->last = strdup("p000");
    control->producers[0]->in_ring = true;
    control->producers[0]->misses = 3;
    control->producers[0]->slowness_permille = 1500;
}

typedef void visit_fn(ProtobufCMessage *message, unsigned *count);

static void mark_it(ProtobufCMessage *message, unsigned *count)
{
    mark(message);
    (*count)++;
}

/* Every message of both sections. */
static unsigned visit(Lks__ManifestHead *head,
                      Lks__ManifestControl *control,
                      visit_fn *visitor)
{
    unsigned count = 0;

    visitor(&head->base, &count);
    visitor(&control->base, &count);
    if (head->limits != NULL)
        visitor(&head->limits->base, &count);
    for (size_t i = 0; i < head->n_writers; i++)
        visitor(&head->writers[i]->base, &count);
    for (size_t i = 0; i < head->n_tail; i++)
        visitor(&head->tail[i]->base, &count);
    for (size_t i = 0; i < control->n_producers; i++)
        visitor(&control->producers[i]->base, &count);
    if (control->ring != NULL)
        visitor(&control->ring->base, &count);
    for (size_t i = 0; i < control->n_groups; i++) {
        visitor(&control->groups[i]->base, &count);
        visitor(&control->groups[i]->run->base, &count);
    }
    for (size_t i = 0; i < control->n_pins; i++)
        visitor(&control->pins[i]->base, &count);
    return count;
}

static void unpack(const struct lks_buf *buf,
                   Lks__ManifestHead **out_head,
                   Lks__ManifestControl **out_control)
{
    size_t head_size = lks_get_u32(buf->data + 12);
    size_t control_size = lks_get_u32(buf->data + 20);

    *out_head = lks__manifest_head__unpack(NULL, head_size, buf->data + 64);
    *out_control = lks__manifest_control__unpack(NULL, control_size,
                                                 buf->data + 64 + head_size);
    assert_non_null(*out_head);
    assert_non_null(*out_control);
}

/* Puts messages into the object and frees them. */
static void pack(struct lks_buf *buf,
                 Lks__ManifestHead *head,
                 Lks__ManifestControl *control)
{
    size_t head_size = lks__manifest_head__get_packed_size(head);
    size_t control_size = lks__manifest_control__get_packed_size(control);
    struct lks_error error;

    buf->size = 64;
    assert_status(LKS_OK,
                  lks_buf_reserve(buf, head_size + control_size, &error));
    lks__manifest_head__pack(head, buf->data + 64);
    lks__manifest_control__pack(control, buf->data + 64 + head_size);
    buf->size += head_size + control_size;
    lks_put_u32(buf->data + 12, (uint32_t)head_size);
    lks_put_u32(buf->data + 20, (uint32_t)control_size);
    fixture_repair_sections(buf->data);
    lks__manifest_head__free_unpacked(head, NULL);
    lks__manifest_control__free_unpacked(control, NULL);
}

/* A manifest of version 11, ten steps, from a newer library: every message has
 * a field that this one does not know. */
static struct lks_buf make_newer(unsigned *out_count)
{
    struct lks_manifest *manifest = fixture_manifest(2, 10);
    struct lks_buf buf = fixture_encoded(manifest);
    Lks__ManifestControl *control;
    Lks__ManifestHead *head;

    lks_manifest_free(manifest);
    unpack(&buf, &head, &control);
    add_group_and_pin(control);
    head->limits = malloc(sizeof(*head->limits));
    lks__limits__init(head->limits);
    *out_count = visit(head, control, mark_it);
    pack(&buf, head, control);
    return buf;
}

static unsigned count_marks(const struct lks_manifest *manifest)
{
    struct lks_buf buf = fixture_encoded(manifest);
    Lks__ManifestControl *control;
    Lks__ManifestHead *head;
    unsigned count;

    unpack(&buf, &head, &control);
    count = visit(head, control, count_mark);
    lks__manifest_head__free_unpacked(head, NULL);
    lks__manifest_control__free_unpacked(control, NULL);
    lks_buf_done(&buf);
    return count;
}

static struct lks_manifest *decode(const struct lks_buf *buf)
{
    struct lks_manifest *manifest;
    struct lks_error error;

    assert_status(LKS_OK,
                  lks_manifest_decode(buf->data, buf->size, fixture_stream,
                                      lks_get_u64(buf->data + 44), &manifest,
                                      &error));
    return manifest;
}

static void unknown_fields_survive_at_every_level(void **state)
{
    struct lks_manifest *manifest;
    struct lks_manifest *copy;
    struct lks_error error;
    unsigned marks;
    struct lks_buf buf = make_newer(&marks);

    (void)state;
    /* Both sections, limits, 2 writers, 10 entries, 2 producers, ring, group,
     * run, pin. */
    assert_int_equal(marks, 2 + 1 + 2 + 10 + 2 + 1 + 2 + 1);
    manifest = decode(&buf);
    assert_int_equal(count_marks(manifest), marks);

    assert_status(LKS_OK, lks_manifest_copy(manifest, &copy, &error));
    lks_manifest_advance(copy);
    fixture_append(copy, "p000");
    fixture_put(copy, "p001", 2);
    fixture_put(copy, "p002", 1);
    lks_manifest_end(copy);
    assert_int_equal(count_marks(copy), marks);
    lks_manifest_free(copy);
    lks_manifest_free(manifest);
    lks_buf_done(&buf);
}

static void a_record_keeps_its_place_in_the_ring(void **state)
{
    struct lks_manifest *manifest;
    Lks__ManifestControl *control;
    Lks__ManifestHead *head;
    struct lks_buf after;
    unsigned marks;
    struct lks_buf buf = make_newer(&marks);

    (void)state;
    manifest = decode(&buf);
    lks_manifest_advance(manifest);
    fixture_put(manifest, "p000", 2);
    fixture_append(manifest, "p000");
    after = fixture_encoded(manifest);
    unpack(&after, &head, &control);
    assert_int_equal(control->producers[0]->epoch, 2);
    assert_true(control->producers[0]->in_ring);
    assert_int_equal(control->producers[0]->misses, 3);
    assert_int_equal(control->producers[0]->slowness_permille, 1500);
    lks__manifest_head__free_unpacked(head, NULL);
    lks__manifest_control__free_unpacked(control, NULL);
    lks_buf_done(&after);
    lks_buf_done(&buf);
    lks_manifest_free(manifest);
}

static void sealing_keeps_what_it_does_not_know(void **state)
{
    struct lks_manifest *manifest;
    Lks__IndexControl *control;
    Lks__IndexHead *head;
    struct lks_error error;
    unsigned count = 0;
    struct lks_buf block;
    size_t head_size;
    unsigned marks;
    struct lks_buf buf = make_newer(&marks);

    (void)state;
    manifest = decode(&buf);
    lks_manifest_advance(manifest);
    while (!lks_manifest_tail_is_full(manifest))
        fixture_append(manifest, "p001");
    lks_buf_init(&block, LKS_INDEX_SIZE_MAX);
    assert_status(LKS_OK, lks_index_encode(manifest, &block, &error));
    head_size = lks_get_u32(block.data + 12);
    head = lks__index_head__unpack(NULL, head_size, block.data + 64);
    control = lks__index_control__unpack(NULL, block.size - 64 - head_size,
                                         block.data + 64 + head_size);
    assert_non_null(head);
    assert_non_null(control);
    for (size_t i = 0; i < head->n_writers; i++)
        count_mark(&head->writers[i]->base, &count);
    for (size_t i = 0; i < head->n_entries; i++)
        count_mark(&head->entries[i]->base, &count);
    for (size_t i = 0; i < control->n_producers; i++)
        count_mark(&control->producers[i]->base, &count);
    assert_int_equal(count, 2 + 10 + 2);
    lks__index_head__free_unpacked(head, NULL);
    lks__index_control__free_unpacked(control, NULL);
    lks_buf_done(&block);
    lks_buf_done(&buf);
    lks_manifest_free(manifest);
}

static void a_required_feature_is_named_and_refused(void **state)
{
    struct lks_manifest *manifest;
    Lks__ManifestControl *control;
    Lks__ManifestHead *head;
    struct lks_error error;
    unsigned marks;
    size_t needed;
    struct lks_buf buf = make_newer(&marks);

    (void)state;
    unpack(&buf, &head, &control);
    head->n_required = 1;
    head->required = calloc(1, sizeof(char *));
    head->required[0] = strdup("telepathy");
    pack(&buf, head, control);
    assert_status(LKS_UNSUPPORTED,
                  lks_manifest_decode(buf.data, buf.size, fixture_stream, 11,
                                      &manifest, &error));
    assert_message_has("\"telepathy\"");
    assert_status(LKS_UNSUPPORTED,
                  lks_manifest_decode_head(buf.data, buf.size, fixture_stream,
                                           11, &manifest, &needed, &error));
    lks_buf_done(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_fields_survive_at_every_level),
        cmocka_unit_test(a_record_keeps_its_place_in_the_ring),
        cmocka_unit_test(sealing_keeps_what_it_does_not_know),
        cmocka_unit_test(a_required_feature_is_named_and_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
