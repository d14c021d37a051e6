/*
 * Manifests that nobody of ours wrote, under checksums that are right: refused
 * in one line, or sound enough to be built on.
 */
#include "format/lakestream.pb-c.h"
#include "format/manifest.h"
#include "support/check.h"
#include "support/format_fixture.h"

/* Version 11: two producers, ten steps. */
#define VERSION 11

/* An object of these two sections. */
static struct lks_buf assemble(const uint8_t *head,
                               size_t head_size,
                               const uint8_t *control,
                               size_t control_size)
{
    uint8_t header[64] = "LKSMANI";
    struct lks_error error;
    struct lks_buf buf;

    lks_put_u32(header + 8, 1);
    lks_put_u32(header + 12, (uint32_t)head_size);
    lks_put_u32(header + 20, (uint32_t)control_size);
    memcpy(header + 28, fixture_stream, LKS_ID_SIZE);
    lks_put_u64(header + 44, VERSION);
    lks_buf_init(&buf, 2 * LKS_MANIFEST_SIZE_MAX);
    assert_status(LKS_OK, lks_buf_append(&buf, header, 64, &error));
    assert_status(LKS_OK, lks_buf_append(&buf, head, head_size, &error));
    assert_status(LKS_OK, lks_buf_append(&buf, control, control_size, &error));
    fixture_repair_sections(buf.data);
    return buf;
}

struct messages {
    Lks__ManifestHead *head;
    Lks__ManifestControl *control;
};

typedef void change_fn(struct messages *messages);

static enum lks_status decode(const struct lks_buf *buf,
                              struct lks_error *error)
{
    struct lks_manifest *manifest;
    enum lks_status status;

    status = lks_manifest_decode(buf->data, buf->size, fixture_stream, VERSION,
                                 &manifest, error);
    if (status == LKS_OK)
        lks_manifest_free(manifest);
    return status;
}

/* What becomes of a good manifest after `change`. Texts and bytes that a change
 * puts in are its own, so the messages are packed and then let go. */
static enum lks_status decode_changed(change_fn *change,
                                      struct lks_error *error)
{
    struct lks_manifest *manifest = fixture_manifest(2, 10);
    struct lks_buf buf = fixture_encoded(manifest);
    size_t head_size = lks_get_u32(buf.data + 12);
    struct messages messages;
    enum lks_status status;
    static uint8_t packed[2][65536];
    size_t size[2];

    messages.head = lks__manifest_head__unpack(NULL, head_size, buf.data + 64);
    messages.control =
        lks__manifest_control__unpack(NULL, buf.size - 64 - head_size,
                                      buf.data + 64 + head_size);
    assert_non_null(messages.head);
    assert_non_null(messages.control);
    lks_buf_done(&buf);
    lks_manifest_free(manifest);

    change(&messages);
    size[0] = lks__manifest_head__get_packed_size(messages.head);
    size[1] = lks__manifest_control__get_packed_size(messages.control);
    assert_true(size[0] <= sizeof(packed[0]));
    assert_true(size[1] <= sizeof(packed[1]));
    lks__manifest_head__pack(messages.head, packed[0]);
    lks__manifest_control__pack(messages.control, packed[1]);
    lks__manifest_head__free_unpacked(messages.head, NULL);
    lks__manifest_control__free_unpacked(messages.control, NULL);

    buf = assemble(packed[0], size[0], packed[1], size[1]);
    status = decode(&buf, error);
    lks_buf_done(&buf);
    return status;
}

static void set_text(char **text, const char *value)
{
    free(*text);
    *text = strdup(value);
}

static void set_size(ProtobufCBinaryData *bytes, size_t size)
{
    free(bytes->data);
    bytes->data = calloc(1, size + 1);
    bytes->len = size;
}

static void add_writers(struct messages *messages, size_t count)
{
    Lks__ManifestHead *head = messages->head;

    head->writers =
        realloc(head->writers, (head->n_writers + count) * sizeof(void *));
    for (size_t i = 0; i < count; i++) {
        Lks__Writer *writer = malloc(sizeof(*writer));

        lks__writer__init(writer);
        writer->producer = strdup("p000");
        head->writers[head->n_writers++] = writer;
    }
}

static Lks__Group *add_group(struct messages *messages, const char *name)
{
    Lks__ManifestControl *control = messages->control;
    Lks__Group *group = malloc(sizeof(*group));

    lks__group__init(group);
    group->name = strdup(name);
    group->run = malloc(sizeof(*group->run));
    lks__run__init(group->run);
    group->run->id = strdup("job-17");
    group->run->ranks = 8;
    control->groups =
        realloc(control->groups, (control->n_groups + 1) * sizeof(void *));
    control->groups[control->n_groups++] = group;
    return group;
}

static void drop_run(Lks__Group *group)
{
    lks__run__free_unpacked(group->run, NULL);
    group->run = NULL;
}

static void add_former(Lks__Group *group, size_t count, const char *id)
{
    group->former_ids = calloc(count, sizeof(char *));
    group->n_former_ids = count;
    for (size_t i = 0; i < count; i++)
        group->former_ids[i] = strdup(id);
}

static void add_pins(struct messages *messages, unsigned count)
{
    Lks__ManifestControl *control = messages->control;

    control->pins = calloc(count, sizeof(void *));
    for (unsigned i = 0; i < count; i++) {
        char name[16];

        snprintf(name, sizeof(name), "pin%06u", i);
        control->pins[i] = malloc(sizeof(*control->pins[i]));
        lks__pin__init(control->pins[i]);
        control->pins[i]->name = strdup(name);
    }
    control->n_pins = count;
}

static void add_ring(struct messages *messages, const char *last)
{
    messages->control->ring = malloc(sizeof(Lks__Ring));
    lks__ring__init(messages->control->ring);
    messages->control->ring->last = strdup(last);
}

/* As much as a manifest may have of each. */
static void everything(struct messages *messages)
{
    add_writers(messages, 254);
    add_former(add_group(messages, "eval"), 64, "job-1");
    add_group(messages, "train");
    add_pins(messages, LKS_PINS_MAX);
    add_ring(messages, "p001");
}

/* clang-format off */
#define CHANGES(X)                                                             \
    X(next_step_beyond, m->head->next_step++)                                  \
    X(next_step_zero, m->head->next_step = 0)                                  \
    X(next_step_huge, m->head->next_step = UINT64_MAX)                         \
    X(first_step_in_tail, m->head->first_step = 5)                             \
    X(first_step_beyond, m->head->first_step = 11)                             \
    X(first_live_beyond, m->head->first_live_step = 11)                        \
    X(claimed_beyond, m->head->claimed = 11)                                   \
    X(total_too_large, m->head->total_bytes++)                                 \
    X(total_too_small, m->head->total_bytes--)                                 \
    X(reclaimed_too_large, m->head->reclaimed_bytes = UINT64_MAX)              \
    X(claimed_bytes_too_large, m->head->claimed_bytes = UINT64_MAX)            \
    X(ended_elsewhere, (m->head->ended = 1, m->head->ended_at = 9))            \
    X(ended_at_alone, m->head->ended_at = 10)                                  \
    X(writer_missing, m->head->tail[3]->writer = 2)                            \
    X(writer_huge, m->head->tail[3]->writer = UINT32_MAX)                      \
    X(writer_nameless, set_text(&m->head->writers[1]->producer, ""))           \
    X(writer_of_a_path, set_text(&m->head->writers[1]->producer, "../x"))      \
    X(entry_total, m->head->tail[3]->total++)                                  \
    X(entry_first_total, m->head->tail[0]->total = 1)                          \
    X(entry_size, m->head->tail[3]->size += 64)                                \
    X(entry_size_huge, m->head->tail[0]->size = UINT64_MAX)                    \
    X(entry_version_zero, m->head->tail[0]->version = 0)                       \
    X(entry_version_later, m->head->tail[9]->version = VERSION + 1)            \
    X(entry_version_back, m->head->tail[9]->version = 2)                       \
    X(entry_footer_small, m->head->tail[3]->footer_size = 31)                  \
    X(entry_footer_large, m->head->tail[3]->footer_size = 352)                 \
    X(entry_footer_huge, m->head->tail[3]->footer_size = UINT32_MAX)           \
    X(entry_raw_max, m->head->tail[3]->raw_max = UINT64_MAX)                   \
    X(entry_uniform, m->head->tail[3]->uniform = 192)                          \
    X(entry_uniform_odd, m->head->tail[3]->uniform = 1)                        \
    X(entry_uniform_huge, m->head->tail[3]->uniform = UINT64_MAX - 63)         \
    X(writers_many, add_writers(m, 255))                                       \
    X(group_nameless, set_text(&add_group(m, "a")->name, ""))                  \
    X(group_without_run, drop_run(add_group(m, "a")))                          \
    X(group_twice, (add_group(m, "a"), add_group(m, "a")))                     \
    X(groups_swapped, (add_group(m, "b"), add_group(m, "a")))                  \
    X(run_nameless, set_text(&add_group(m, "a")->run->id, ""))                 \
    X(run_of_no_ranks, add_group(m, "a")->run->ranks = 0)                      \
    X(former_ids_many, add_former(add_group(m, "a"), 65, "x"))                 \
    X(former_id_of_a_path, add_former(add_group(m, "a"), 1, "../x"))           \
    X(pins_many, add_pins(m, LKS_PINS_MAX + 1))                                \
    X(pin_nameless,                                                            \
        (add_pins(m, 1), set_text(&m->control->pins[0]->name, "")))            \
    X(pins_swapped,                                                            \
        (add_pins(m, 2), set_text(&m->control->pins[0]->name, "q")))           \
    X(ring_of_a_path, add_ring(m, "../x"))                                     \
    X(producer_nameless, set_text(&m->control->producers[0]->id, ""))          \
    X(producer_twice, set_text(&m->control->producers[0]->id, "p001"))         \
    X(producers_swapped, set_text(&m->control->producers[0]->id, "z"))         \
    X(owner_short, set_size(&m->control->producers[0]->owner, 15))             \
    X(owner_absent, set_size(&m->control->producers[0]->owner, 0))             \
    X(owner_long, set_size(&m->control->producers[0]->owner, 17))              \
    X(offset_long, set_size(&m->control->producers[0]->offset, 257))           \
    X(host_control, set_text(&m->control->producers[0]->host, "a\nb"))         \
    X(host_high, set_text(&m->control->producers[0]->host, "\xff"))            \
    X(host_long, set_text(&m->control->producers[0]->host,                     \
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"))
/* clang-format on */

#define CHANGE_FUNCTION(name, statement)                                       \
    static void name(struct messages *m)                                       \
    {                                                                          \
        statement;                                                             \
    }
CHANGES(CHANGE_FUNCTION)

#define CHANGE_ROW(name, statement) {#name, name},

static void nothing(struct messages *messages)
{
    (void)messages;
}

static void what_cannot_be_true_is_refused(void **state)
{
    static const struct {
        const char *name;
        change_fn *change;
    } cases[] = {CHANGES(CHANGE_ROW)};
    struct lks_error error;

    (void)state;
    assert_status(LKS_OK, decode_changed(nothing, &error));
    assert_status(LKS_OK, decode_changed(everything, &error));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        enum lks_status status = decode_changed(cases[i].change, &error);

        if (status != LKS_CORRUPT)
            fail_msg("%s: got %s", cases[i].name, lks_status_name(status));
        assert_null(strchr(error.message, '\n'));
    }
}

/* Sections of hand-made wire bytes: key, then content. */
static void malformed_messages_are_refused(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
    } heads[] = {
        {"\x80", 1}, /* a key cut off */
        {"\x10", 1}, /* no value */
        {"\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12},
        {"\x6a\x05\x01", 3}, /* past the end */
        {"\x6a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11},
        {"\x6a\x02\x52\x05", 4}, /* inner past outer */
        {"\x0b", 1},             /* a group */
        {"\x0f", 1},             /* no such wire type */
        {"\x00\x00", 2},         /* field 0 */
        {"\x0a\x03"
         "a\0b",
         5},                                 /* a NUL in a text */
        {"\x12\x00", 2},                     /* a length for a number */
        {"\xff\xff\xff\xff\xff\x01\x00", 7}, /* a key past 32 bits */
    };
    struct lks_error error;

    (void)state;
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        struct lks_buf buf =
            assemble((const uint8_t *)heads[i].bytes, heads[i].size, NULL, 0);

        assert_status(LKS_CORRUPT, decode(&buf, &error));
        assert_message_has("malformed");
        lks_buf_done(&buf);
    }
}

/* 4 MiB of empty messages would become 100 times as much memory. */
static void a_section_of_millions_of_fields_is_refused(void **state)
{
    size_t size = LKS_MANIFEST_SIZE_MAX - 64;
    uint8_t *head = malloc(size);
    struct lks_error error;
    struct lks_buf buf;

    (void)state;
    assert_non_null(head);
    for (size_t i = 0; i < size; i += 2) {
        head[i] = 0x6a;
        head[i + 1] = 0;
    }
    buf = assemble(head, size, NULL, 0);
    assert_status(LKS_CORRUPT, decode(&buf, &error));
    lks_buf_done(&buf);
    free(head);
}

/* Producers p0000, p0001, ... as wire bytes. */
static enum lks_status decode_producers(unsigned count, struct lks_error *error)
{
    static const uint8_t record[27] = "\x12\x19\x0a\x05p0000\x1a\x10";
    uint8_t *control = malloc(count * sizeof(record));
    enum lks_status status;
    struct lks_buf buf;

    assert_non_null(control);
    for (unsigned i = 0; i < count; i++) {
        uint8_t *at = control + i * sizeof(record);

        memcpy(at, record, sizeof(record));
        for (unsigned digit = 0, rest = i; digit < 4; digit++, rest /= 10)
            at[8 - digit] = (uint8_t)('0' + rest % 10);
    }
    buf = assemble(NULL, 0, control, count * sizeof(record));
    status = decode(&buf, error);
    lks_buf_done(&buf);
    free(control);
    return status;
}

static void more_producers_than_a_stream_takes_are_refused(void **state)
{
    struct lks_error error;

    (void)state;
    assert_status(LKS_OK, decode_producers(LKS_PRODUCERS_MAX, &error));
    assert_status(LKS_CORRUPT, decode_producers(LKS_PRODUCERS_MAX + 1, &error));
    assert_message_has("too many producers");
}

/* Everything that can be asked of a manifest, and everything done to it. */
static void use(struct lks_manifest *manifest)
{
    struct lks_producer_record record;
    struct lks_manifest *again;
    struct lks_entry entry;
    struct lks_error error;
    struct lks_buf buf;

    for (uint64_t step = lks_manifest_tail_first(manifest);
         step < lks_manifest_next_step(manifest); step++) {
        uint64_t offset;
        uint64_t size;

        lks_manifest_entry(manifest, step, FIXTURE_SLICES, &entry);
        assert_true(lks_id_is_valid(entry.producer));
        if (entry.table.kind != LKS_TABLE_FOOTER) {
            lks_table_range(&entry.table, 0, FIXTURE_SLICES, &offset, &size);
            assert_true(size + entry.footer_size == entry.size);
        }
    }
    for (uint32_t i = 0; i < lks_manifest_producer_count(manifest); i++) {
        struct lks_producer_record found;

        lks_manifest_producer(manifest, i, &record);
        assert_true(lks_manifest_find_producer(manifest, record.id, &found));
        assert_ptr_equal(found.id, record.id);
    }
    lks_manifest_is_full(manifest);
    lks_manifest_live_bytes(manifest);

    lks_manifest_advance(manifest);
    record = fixture_record("p000", 9);
    assert_status(LKS_OK, lks_manifest_put_producer(manifest, &record, &error));
    entry = fixture_entry(manifest, "p000", 64);
    if (!lks_manifest_ended(manifest))
        assert_status(LKS_OK,
                      lks_manifest_append(manifest, &entry, "o", 1, &error));
    lks_manifest_end(manifest);
    lks_manifest_end_if_complete(manifest);
    buf = fixture_encoded(manifest);
    assert_status(LKS_OK,
                  lks_manifest_decode(buf.data, buf.size, fixture_stream,
                                      lks_manifest_version(manifest), &again,
                                      &error));
    lks_manifest_free(again);
    lks_buf_done(&buf);
}

static void damage_under_right_checksums_breaks_nothing(void **state)
{
    struct lks_manifest *manifest = fixture_manifest(2, 10);
    struct lks_buf good = fixture_encoded(manifest);
    size_t head_size = lks_get_u32(good.data + 12);
    size_t control_size = lks_get_u32(good.data + 20);
    uint64_t random = fixture_seed();
    unsigned used = 0;
    uint8_t head[2048];
    uint8_t control[2048];

    (void)state;
    print_message("seed %llu\n", (unsigned long long)random);
    lks_manifest_free(manifest);
    assert_true(head_size + 16 < sizeof(head));
    assert_true(control_size + 16 < sizeof(control));
    for (int round = 0; round < 20000; round++) {
        size_t size[2] = {head_size, control_size};
        enum lks_status status;
        struct lks_error error;
        struct lks_buf buf;

        memcpy(head, good.data + 64, head_size);
        memcpy(control, good.data + 64 + head_size, control_size);
        if (round % 3 != 1)
            size[0] = fixture_mutate(head, head_size, &random);
        if (round % 3 != 0)
            size[1] = fixture_mutate(control, control_size, &random);
        buf = assemble(head, size[0], control, size[1]);
        status = lks_manifest_decode(buf.data, buf.size, fixture_stream,
                                     VERSION, &manifest, &error);
        if (status == LKS_OK) {
            used++;
            use(manifest);
            lks_manifest_free(manifest);
        } else {
            assert_true(status == LKS_CORRUPT || status == LKS_UNSUPPORTED);
            assert_null(strchr(error.message, '\n'));
        }
        lks_buf_done(&buf);
    }
    /* Else the damage is so wild that only the parser was tested. */
    assert_true(used > 200);
    lks_buf_done(&good);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cannot_be_true_is_refused),
        cmocka_unit_test(malformed_messages_are_refused),
        cmocka_unit_test(a_section_of_millions_of_fields_is_refused),
        cmocka_unit_test(more_producers_than_a_stream_takes_are_refused),
        cmocka_unit_test(damage_under_right_checksums_breaks_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
