/* Footers: whole, of this format, and true to the object they end. */
#include "format/lakestream.pb-c.h"
#include "format/tgb.h"
#include "support/check.h"
#include "support/format_fixture.h"
#include "support/format_vectors.h"
#include "support/torture.h"

static const uint64_t same[2] = {128, 128};

static struct lks_footer make_footer(void)
{
    struct lks_footer footer = {
        .dp = 2,
        .cp = 1,
        .producer = "prep-0",
        .epoch = 1,
        .offset_after = "shard 3, byte 4096",
        .offset_after_size = 18,
        .meta = "{}",
        .meta_size = 2,
        .frames = same,
    };

    memcpy(footer.stream, fixture_stream, LKS_ID_SIZE);
    for (unsigned i = 0; i < LKS_ID_SIZE; i++)
        footer.owner[i] = (uint8_t)(0xf0 - 16 * i);
    return footer;
}

static struct lks_buf encode(const struct lks_footer *footer,
                             uint64_t frames_size)
{
    struct lks_error error;
    struct lks_buf buf;

    lks_buf_init(&buf, LKS_FOOTER_SIZE_MAX);
    assert_status(LKS_OK, lks_footer_encode(footer, frames_size, &buf, &error));
    return buf;
}

static void a_footer_is_that_of_the_document(void **state)
{
    struct lks_footer footer = make_footer();
    struct lks_buf buf = encode(&footer, 256);
    uint8_t expected[VECTOR_FOOTER_SIZE];
    struct lks_error error;

    (void)state;
    assert_true(lks_hex_decode(vector_footer_message, expected,
                               VECTOR_FOOTER_SIZE - 32));
    assert_true(lks_hex_decode(vector_footer_trailer,
                               expected + VECTOR_FOOTER_SIZE - 32, 32));
    assert_int_equal(buf.size, VECTOR_FOOTER_SIZE);
    assert_memory_equal(buf.data, expected, VECTOR_FOOTER_SIZE);
    assert_int_equal(lks_crc32c(expected, VECTOR_FOOTER_SIZE),
                     VECTOR_FOOTER_CRC);

    assert_status(LKS_OK, lks_footer_decode(expected, VECTOR_FOOTER_SIZE,
                                            VECTOR_TGB_SIZE, &footer, &error));
    assert_string_equal(footer.producer, "prep-0");
    assert_memory_equal(footer.stream, fixture_stream, LKS_ID_SIZE);
    assert_int_equal(footer.owner[1], 0xe0);
    assert_int_equal(footer.epoch, 1);
    assert_int_equal(footer.seq, 0);
    assert_int_equal(footer.offset_before_size, 0);
    assert_int_equal(footer.offset_after_size, 18);
    assert_memory_equal(footer.offset_after, "shard 3, byte 4096", 18);
    assert_int_equal(footer.meta_size, 2);
    assert_int_equal(footer.uniform, 128);
    assert_null(footer.frames);
    lks_footer_done(&footer);
    lks_buf_done(&buf);
}

static void all_that_it_says_comes_back(void **state)
{
    uint64_t *frames = calloc(LKS_SLICE_COUNT_MAX, sizeof(*frames));
    uint8_t *meta = calloc(1, LKS_META_SIZE_MAX);
    uint8_t offset[LKS_OFFSET_SIZE_MAX];
    struct lks_footer footer = make_footer();
    uint64_t frames_size = 0;
    struct lks_footer again;
    struct lks_error error;
    struct lks_buf buf;
    char id[65];

    (void)state;
    memset(id, 'x', 64);
    id[64] = '\0';
    memset(offset, 0xff, sizeof(offset));
    for (uint32_t i = 0; i < LKS_SLICE_COUNT_MAX; i++) {
        frames[i] = 64 * (1 + UINT64_C(2654435761) * i % 16000000);
        frames_size += frames[i];
    }
    footer.dp = 256;
    footer.cp = 256;
    footer.producer = id;
    footer.epoch = UINT64_MAX;
    footer.seq = UINT64_MAX;
    footer.offset_before = offset;
    footer.offset_before_size = sizeof(offset);
    footer.offset_after = offset;
    footer.offset_after_size = sizeof(offset);
    footer.meta = meta;
    footer.meta_size = LKS_META_SIZE_MAX;
    footer.raw_max = LKS_SLICE_SIZE_MAX;
    footer.frames = frames;
    buf = encode(&footer, frames_size);
    assert_status(LKS_OK,
                  lks_footer_decode(buf.data, buf.size, frames_size + buf.size,
                                    &again, &error));
    assert_int_equal(again.uniform, 0);
    assert_memory_equal(again.frames, frames,
                        LKS_SLICE_COUNT_MAX * sizeof(*frames));
    assert_string_equal(again.producer, id);
    assert_true(again.epoch == UINT64_MAX);
    assert_true(again.seq == UINT64_MAX);
    assert_int_equal(again.offset_before_size, sizeof(offset));
    assert_memory_equal(again.offset_before, offset, sizeof(offset));
    assert_int_equal(again.meta_size, LKS_META_SIZE_MAX);
    assert_int_equal(again.raw_max, LKS_SLICE_SIZE_MAX);
    lks_footer_done(&again);
    lks_footer_done(&again);
    lks_footer_done(NULL);
    lks_buf_done(&buf);
    free(frames);
    free(meta);
}

static void the_trailer_alone_tells_the_footers_size(void **state)
{
    struct lks_footer footer = make_footer();
    struct lks_buf buf = encode(&footer, 256);
    const uint8_t *trailer = buf.data + buf.size - LKS_TRAILER_SIZE;
    struct lks_error error;
    uint32_t size;

    (void)state;
    assert_status(LKS_OK,
                  lks_trailer_decode(trailer, VECTOR_TGB_SIZE, &size, &error));
    assert_int_equal(size, VECTOR_FOOTER_SIZE);
    assert_status(LKS_CORRUPT, lks_trailer_decode(trailer, VECTOR_TGB_SIZE + 1,
                                                  &size, &error));
    assert_message_has("has 366 bytes; its footer says 365");
    assert_status(LKS_CORRUPT,
                  lks_trailer_decode(buf.data, VECTOR_TGB_SIZE, &size, &error));
    assert_message_has("no TGB ends here");
    lks_buf_done(&buf);
}

static void every_flipped_bit_is_refused(void **state)
{
    struct lks_footer footer = make_footer();
    struct lks_buf buf = encode(&footer, 256);
    struct lks_error error;

    (void)state;
    for (size_t bit = 0; bit < 8 * buf.size; bit++) {
        buf.data[bit / 8] ^= (uint8_t)(1 << (bit % 8));
        assert_status(LKS_CORRUPT,
                      lks_footer_decode(buf.data, buf.size, VECTOR_TGB_SIZE,
                                        &footer, &error));
        buf.data[bit / 8] ^= (uint8_t)(1 << (bit % 8));
    }
    lks_buf_done(&buf);
}

static void every_truncation_is_refused(void **state)
{
    struct lks_footer footer = make_footer();
    struct lks_buf buf = encode(&footer, 256);
    struct lks_error error;

    (void)state;
    for (size_t cut = 1; cut <= buf.size; cut++) {
        size_t size = buf.size - cut;
        uint8_t *part = malloc(size + 1);

        assert_non_null(part);
        memcpy(part, buf.data, size);
        assert_status(LKS_CORRUPT,
                      lks_footer_decode(part, size, VECTOR_TGB_SIZE - cut,
                                        &footer, &error));
        memcpy(part, buf.data + cut, size);
        assert_status(LKS_CORRUPT,
                      lks_footer_decode(part, size, VECTOR_TGB_SIZE, &footer,
                                        &error));
        free(part);
    }
    lks_buf_done(&buf);
}

static void a_footer_larger_than_its_object_is_refused(void **state)
{
    struct lks_footer footer = make_footer();
    struct lks_buf buf = encode(&footer, 256);
    uint8_t *trailer = buf.data + buf.size - LKS_TRAILER_SIZE;
    struct lks_error error;
    uint32_t size;

    (void)state;
    lks_put_u32(trailer, VECTOR_TGB_SIZE);
    lks_put_u32(trailer + 28, lks_crc32c(trailer, 28));
    assert_status(LKS_CORRUPT,
                  lks_trailer_decode(trailer, VECTOR_TGB_SIZE, &size, &error));
    assert_message_has("size is out of range");
    lks_buf_done(&buf);
}

/* A footer of any message, with checksums that are right. */
static struct lks_buf seal(const uint8_t *message,
                           size_t size,
                           uint64_t object_size)
{
    uint8_t trailer[LKS_TRAILER_SIZE];
    struct lks_error error;
    struct lks_buf buf;

    lks_buf_init(&buf, 2 * LKS_FOOTER_SIZE_MAX);
    assert_status(LKS_OK, lks_buf_append(&buf, message, size, &error));
    lks_put_u32(trailer, (uint32_t)size);
    lks_put_u32(trailer + 4, lks_crc32c(message, size));
    lks_put_u64(trailer + 8, object_size);
    lks_put_u32(trailer + 16, 1);
    memcpy(trailer + 20, "LKSTGBF", 8);
    lks_put_u32(trailer + 28, lks_crc32c(trailer, 28));
    assert_status(LKS_OK,
                  lks_buf_append(&buf, trailer, LKS_TRAILER_SIZE, &error));
    return buf;
}

static void a_newer_format_is_unsupported(void **state)
{
    struct lks_footer footer = make_footer();
    struct lks_buf buf = encode(&footer, 256);
    uint8_t *trailer = buf.data + buf.size - LKS_TRAILER_SIZE;
    struct lks_error error;

    (void)state;
    lks_put_u32(trailer + 16, 2);
    lks_put_u32(trailer + 28, lks_crc32c(trailer, 28));
    assert_status(LKS_UNSUPPORTED,
                  lks_footer_decode(buf.data, buf.size, VECTOR_TGB_SIZE,
                                    &footer, &error));
    assert_message_has("format 2");
    lks_put_u32(trailer + 16, 0);
    lks_put_u32(trailer + 28, lks_crc32c(trailer, 28));
    assert_status(LKS_CORRUPT,
                  lks_footer_decode(buf.data, buf.size, VECTOR_TGB_SIZE,
                                    &footer, &error));
    lks_buf_done(&buf);
}

#define PACKED_MAX (128u << 10)

typedef void change_fn(Lks__Footer *message);

/* The message of make_footer() after `change`, packed. */
static size_t pack_changed(change_fn *change, uint8_t packed[PACKED_MAX])
{
    struct lks_footer footer = make_footer();
    struct lks_buf buf = encode(&footer, 256);
    Lks__Footer *message;
    Lks__Footer changed;
    size_t size;

    message = lks__footer__unpack(NULL, buf.size - LKS_TRAILER_SIZE, buf.data);
    assert_non_null(message);
    /* A shallow copy: what it is changed to is not freed with the message. */
    changed = *message;
    change(&changed);
    assert_true(lks__footer__get_packed_size(&changed) <= PACKED_MAX);
    size = lks__footer__pack(&changed, packed);
    lks__footer__free_unpacked(message, NULL);
    lks_buf_done(&buf);
    return size;
}

static enum lks_status decode_changed(change_fn *change,
                                      struct lks_error *error)
{
    struct lks_footer footer;
    enum lks_status status;
    static uint8_t packed[PACKED_MAX];
    struct lks_buf buf;
    size_t size;

    size = pack_changed(change, packed);
    buf = seal(packed, size, 256 + size + LKS_TRAILER_SIZE);
    status =
        lks_footer_decode(buf.data, buf.size, 256 + buf.size, &footer, error);
    if (status == LKS_OK)
        lks_footer_done(&footer);
    lks_buf_done(&buf);
    return status;
}

static uint8_t bytes_of_300[300];
static uint64_t frames_off[2] = {64, 128};
static uint64_t frames_odd[2] = {127, 129};
static uint64_t frames_three[3] = {64, 64, 128};

static void nothing(Lks__Footer *message)
{
    (void)message;
}

static void short_stream(Lks__Footer *message)
{
    message->stream.len = 15;
}

static void long_owner(Lks__Footer *message)
{
    message->owner.data = bytes_of_300;
    message->owner.len = 17;
}

static void bad_producer(Lks__Footer *message)
{
    message->producer = (char *)"../x";
}

static void long_offset(Lks__Footer *message)
{
    message->offset_before.data = bytes_of_300;
    message->offset_before.len = 257;
}

static void long_meta(Lks__Footer *message)
{
    static uint8_t meta[LKS_META_SIZE_MAX + 1];

    message->meta.data = meta;
    message->meta.len = sizeof(meta);
}

static void no_mesh(Lks__Footer *message)
{
    message->dp = 0;
}

static void huge_mesh(Lks__Footer *message)
{
    message->dp = 65536;
    message->cp = 65536;
}

static void huge_slice(Lks__Footer *message)
{
    message->raw_max = UINT64_MAX;
}

static void overflowing_length(Lks__Footer *message)
{
    message->uniform = UINT64_C(1) << 63;
}

static void no_table(Lks__Footer *message)
{
    message->uniform = 0;
}

static void set_frames(Lks__Footer *message, size_t count, uint64_t *frames)
{
    message->uniform = 0;
    message->n_frames = count;
    message->frames = frames;
}

static void short_table(Lks__Footer *message)
{
    set_frames(message, 2, frames_off);
}

static void odd_table(Lks__Footer *message)
{
    set_frames(message, 2, frames_odd);
}

static void long_table(Lks__Footer *message)
{
    set_frames(message, 3, frames_three);
}

static void two_tables(Lks__Footer *message)
{
    message->n_frames = 2;
    message->frames = frames_off;
}

static void what_cannot_be_true_is_refused(void **state)
{
    static change_fn *const changes[] = {
        short_stream, long_owner, bad_producer,       long_offset, no_mesh,
        huge_mesh,    huge_slice, overflowing_length, no_table,    short_table,
        odd_table,    long_table, two_tables,         long_meta};
    struct lks_error error;

    (void)state;
    assert_status(LKS_OK, decode_changed(nothing, &error));
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
        assert_status(LKS_CORRUPT, decode_changed(changes[i], &error));
}

static void require_telepathy(Lks__Footer *message)
{
    static char *names[] = {(char *)"telepathy"};

    message->n_required = 1;
    message->required = names;
}

static void a_required_feature_is_named_and_refused(void **state)
{
    struct lks_error error;

    (void)state;
    assert_status(LKS_UNSUPPORTED, decode_changed(require_telepathy, &error));
    assert_message_has("\"telepathy\"");
}

static void add_unknown(Lks__Footer *message)
{
    static ProtobufCMessageUnknownField field = {
        .tag = 1000,
        .wire_type = PROTOBUF_C_WIRE_TYPE_VARINT,
        .len = 1,
        .data = bytes_of_300};

    message->base.n_unknown_fields = 1;
    message->base.unknown_fields = &field;
}

static void an_unknown_field_is_passed_over(void **state)
{
    struct lks_error error;

    (void)state;
    assert_status(LKS_OK, decode_changed(add_unknown, &error));
}

static void damage_under_right_checksums_breaks_nothing(void **state)
{
    struct lks_footer footer = make_footer();
    struct lks_buf buf = encode(&footer, 256);
    size_t message_size = buf.size - LKS_TRAILER_SIZE;
    uint64_t random = fixture_seed();
    uint8_t message[256];
    struct lks_error error;

    (void)state;
    print_message("seed %llu\n", (unsigned long long)random);
    for (int round = 0; round < 30000; round++) {
        enum lks_status status;
        struct lks_buf changed;
        size_t size;

        memcpy(message, buf.data, message_size);
        size = fixture_mutate(message, message_size, &random);
        changed = seal(message, size, 256 + size + LKS_TRAILER_SIZE);
        status = lks_footer_decode(changed.data, changed.size,
                                   256 + changed.size, &footer, &error);
        assert_true(status == LKS_OK || status == LKS_CORRUPT ||
                    status == LKS_UNSUPPORTED);
        if (status == LKS_OK)
            lks_footer_done(&footer);
        lks_buf_done(&changed);
    }
    lks_buf_done(&buf);
}

static void a_footer_past_its_ceiling_is_not_written(void **state)
{
    struct lks_footer footer = make_footer();
    struct lks_error error;
    struct lks_buf buf;

    (void)state;
    footer.meta = bytes_of_300;
    footer.meta_size = LKS_FOOTER_SIZE_MAX;
    lks_buf_init(&buf, 2 * LKS_FOOTER_SIZE_MAX);
    assert_status(LKS_INVALID, lks_footer_encode(&footer, 256, &buf, &error));
    assert_int_equal(buf.size, 0);
    lks_buf_done(&buf);
}

static enum lks_status encode_and_decode(void *arg)
{
    struct lks_footer footer = make_footer();
    static const uint64_t frames[2] = {64, 192};
    struct lks_error error;
    enum lks_status status;
    struct lks_buf buf;

    (void)arg;
    footer.frames = frames;
    lks_buf_init(&buf, LKS_FOOTER_SIZE_MAX);
    status = lks_footer_encode(&footer, 256, &buf, &error);
    if (status == LKS_OK)
        status = lks_footer_decode(buf.data, buf.size, 256 + buf.size, &footer,
                                   &error);
    if (status == LKS_OK)
        lks_footer_done(&footer);
    lks_buf_done(&buf);
    return status;
}

static void a_failing_allocation_leaves_nothing_behind(void **state)
{
    (void)state;
    torture(encode_and_decode, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_footer_is_that_of_the_document),
        cmocka_unit_test(all_that_it_says_comes_back),
        cmocka_unit_test(the_trailer_alone_tells_the_footers_size),
        cmocka_unit_test(every_flipped_bit_is_refused),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(a_newer_format_is_unsupported),
        cmocka_unit_test(a_footer_larger_than_its_object_is_refused),
        cmocka_unit_test(what_cannot_be_true_is_refused),
        cmocka_unit_test(a_required_feature_is_named_and_refused),
        cmocka_unit_test(an_unknown_field_is_passed_over),
        cmocka_unit_test(damage_under_right_checksums_breaks_nothing),
        cmocka_unit_test(a_footer_past_its_ceiling_is_not_written),
        cmocka_unit_test(a_failing_allocation_leaves_nothing_behind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
