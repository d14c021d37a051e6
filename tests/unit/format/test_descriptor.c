/* Descriptors: JSON to the last byte. */
#include "format/descriptor.h"
#include "support/check.h"
#include "support/format_fixture.h"
#include "support/format_vectors.h"
#include "support/torture.h"

static const char descriptor_text[] = VECTOR_DESCRIPTOR;

static struct lks_descriptor make_descriptor(void)
{
    struct lks_descriptor descriptor = fixture_descriptor();

    descriptor.max_live_steps = 1000;
    descriptor.created_ms = INT64_C(1767225600000);
    descriptor.probe = (char *)"{\"create_race\": \"ok\"}";
    return descriptor;
}

static struct lks_buf encode(const struct lks_descriptor *descriptor)
{
    struct lks_error error;
    struct lks_buf buf;

    lks_buf_init(&buf, LKS_DESCRIPTOR_SIZE_MAX);
    assert_status(LKS_OK, lks_descriptor_encode(descriptor, &buf, &error));
    return buf;
}

/* The text `body`, which lacks its closing brace, with a right checksum. */
static enum lks_status decode_body(const char *body, struct lks_error *error)
{
    struct lks_descriptor descriptor;
    enum lks_status status;
    char text[4096];
    int size;

    size = snprintf(text, sizeof(text), "%s,\"crc32c\":\"%08x\"}\n", body,
                    lks_crc32c(body, strlen(body)));
    assert_true(size > 0);
    assert_true((size_t)size < sizeof(text));
    status = lks_descriptor_decode(text, (size_t)size, &descriptor, error);
    if (status == LKS_OK)
        lks_descriptor_done(&descriptor);
    return status;
}

static void a_descriptor_is_that_of_the_document(void **state)
{
    struct lks_descriptor descriptor = make_descriptor();
    struct lks_buf buf = encode(&descriptor);
    struct lks_error error;

    (void)state;
    assert_int_equal(buf.size, strlen(descriptor_text));
    assert_memory_equal(buf.data, descriptor_text, buf.size);
    assert_status(LKS_OK, lks_descriptor_decode(descriptor_text, buf.size,
                                                &descriptor, &error));
    assert_int_equal(descriptor.format, 1);
    assert_int_equal(descriptor.dp, 2);
    assert_int_equal(descriptor.cp, 1);
    assert_string_equal(descriptor.probe, "{\"create_race\":\"ok\"}");
    assert_null(descriptor.parent_url);
    lks_descriptor_done(&descriptor);
    lks_buf_done(&buf);
}

static void the_largest_numbers_come_back(void **state)
{
    struct lks_descriptor descriptor = make_descriptor();
    struct lks_descriptor again;
    struct lks_error error;
    struct lks_buf buf;

    (void)state;
    descriptor.dp = 1;
    descriptor.cp = LKS_SLICE_COUNT_MAX;
    descriptor.producers_to_end = UINT32_MAX;
    descriptor.max_live_steps = LKS_STEP_MAX;
    descriptor.max_live_bytes = LKS_STEP_MAX;
    descriptor.first_step = LKS_STEP_MAX;
    descriptor.created_ms = INT64_MIN;
    descriptor.probe = NULL;
    descriptor.parent_url = (char *)"s3://bucket/\"a\\b\"/\xc3\xa9";
    memset(descriptor.parent_stream, 0xff, LKS_ID_SIZE);
    buf = encode(&descriptor);
    assert_status(LKS_OK,
                  lks_descriptor_decode(buf.data, buf.size, &again, &error));
    assert_int_equal(again.cp, LKS_SLICE_COUNT_MAX);
    assert_int_equal(again.producers_to_end, UINT32_MAX);
    assert_true(again.max_live_steps == LKS_STEP_MAX);
    assert_true(again.max_live_bytes == LKS_STEP_MAX);
    assert_true(again.first_step == LKS_STEP_MAX);
    assert_true(again.created_ms == INT64_MIN);
    assert_null(again.probe);
    assert_string_equal(again.parent_url, descriptor.parent_url);
    assert_memory_equal(again.parent_stream, descriptor.parent_stream,
                        LKS_ID_SIZE);
    lks_descriptor_done(&again);
    lks_descriptor_done(&again);
    lks_descriptor_done(NULL);
    lks_buf_done(&buf);
}

static void what_json_cannot_hold_is_not_written(void **state)
{
    struct lks_descriptor descriptor = make_descriptor();
    char *large = malloc(LKS_DESCRIPTOR_SIZE_MAX + 1);
    struct lks_error error;
    struct lks_buf buf;

    (void)state;
    assert_non_null(large);
    lks_buf_init(&buf, 4 * LKS_DESCRIPTOR_SIZE_MAX);
    descriptor.first_step = LKS_STEP_MAX + 1;
    assert_status(LKS_INVALID,
                  lks_descriptor_encode(&descriptor, &buf, &error));
    descriptor.first_step = 0;
    descriptor.probe = (char *)"[]";
    assert_status(LKS_INVALID,
                  lks_descriptor_encode(&descriptor, &buf, &error));
    descriptor.probe = (char *)"{";
    assert_status(LKS_INVALID,
                  lks_descriptor_encode(&descriptor, &buf, &error));
    descriptor.probe = NULL;
    descriptor.parent_url = (char *)"\xff";
    assert_status(LKS_INVALID,
                  lks_descriptor_encode(&descriptor, &buf, &error));
    memset(large, 'x', LKS_DESCRIPTOR_SIZE_MAX);
    large[LKS_DESCRIPTOR_SIZE_MAX] = '\0';
    descriptor.parent_url = large;
    assert_status(LKS_INVALID,
                  lks_descriptor_encode(&descriptor, &buf, &error));
    assert_int_equal(buf.size, 0);
    lks_buf_done(&buf);
    free(large);
}

static void a_mesh_has_ranks_but_not_too_many(void **state)
{
    struct lks_error error;

    (void)state;
    assert_status(LKS_OK, lks_mesh_check(1, 1, &error));
    assert_status(LKS_OK, lks_mesh_check(LKS_SLICE_COUNT_MAX, 1, &error));
    assert_status(LKS_INVALID, lks_mesh_check(0, 1, &error));
    assert_status(LKS_INVALID, lks_mesh_check(1, 0, &error));
    assert_status(LKS_INVALID, lks_mesh_check(65537, 1, &error));
    assert_status(LKS_INVALID, lks_mesh_check(65536, 65536, &error));
    assert_message_has("65536 x 65536");
}

static void every_flipped_bit_is_refused(void **state)
{
    size_t size = strlen(descriptor_text);
    struct lks_descriptor descriptor;
    struct lks_error error;
    char text[512];

    (void)state;
    memcpy(text, descriptor_text, size);
    for (size_t bit = 0; bit < 8 * size; bit++) {
        text[bit / 8] ^= (char)(1 << (bit % 8));
        assert_status(LKS_CORRUPT,
                      lks_descriptor_decode(text, size, &descriptor, &error));
        text[bit / 8] ^= (char)(1 << (bit % 8));
    }
}

static void every_truncation_is_refused(void **state)
{
    size_t whole = strlen(descriptor_text);
    struct lks_descriptor descriptor;
    struct lks_error error;

    (void)state;
    for (size_t size = 0; size < whole; size++) {
        char *part = malloc(size + 1);

        assert_non_null(part);
        memcpy(part, descriptor_text, size);
        assert_status(LKS_CORRUPT,
                      lks_descriptor_decode(part, size, &descriptor, &error));
        free(part);
    }
}

#define STREAM "\"stream\":\"000102030405060708090a0b0c0d0e0f\""
#define NUMBERS                                                                \
    "\"producers\":1,\"max_live_steps\":0,\"max_live_bytes\":0,"               \
    "\"first_step\":0,\"created_ms\":0"
#define MESH "\"dp\":2,\"cp\":1"
#define GOOD "{\"format\":1," STREAM "," MESH "," NUMBERS ",\"required\":[]"

static void unknown_keys_are_passed_over(void **state)
{
    struct lks_error error;

    (void)state;
    assert_status(LKS_OK, decode_body(GOOD, &error));
    assert_status(LKS_OK, decode_body(GOOD ",\"color\":[1,{}]", &error));
}

static void a_newer_format_is_unsupported(void **state)
{
    struct lks_error error;

    (void)state;
    /* Whatever else it says: nothing but this is known of it. */
    assert_status(LKS_UNSUPPORTED, decode_body("{\"format\":2", &error));
    assert_message_has("format 2");
}

static void a_required_feature_is_named_and_refused(void **state)
{
    struct lks_error error;

    (void)state;
    assert_status(LKS_UNSUPPORTED,
                  decode_body("{\"format\":1,\"required\":[\"telepathy\"]",
                              &error));
    assert_message_has("\"telepathy\"");
    assert_status(LKS_CORRUPT,
                  decode_body("{\"format\":1,\"required\":[\"a\\nb\"]",
                              &error));
    assert_status(LKS_CORRUPT,
                  decode_body("{\"format\":1,\"required\":[7]", &error));
}

static void what_cannot_be_true_is_refused(void **state)
{
    static const char *const bodies[] = {
        "{",
        "[1",
        "{\"a\":1,\"a\":2",
        "{\"format\":0",
        "{\"format\":-1",
        "{\"format\":1.0",
        "{\"format\":\"1\"",
        "{\"format\":1",
        "{\"format\":1,\"required\":{}",
        "{\"format\":1," MESH "," NUMBERS ",\"required\":[]",
        "{\"format\":1," STREAM "," NUMBERS ",\"required\":[]",
        "{\"format\":1," STREAM "," MESH ",\"required\":[]",
        "{\"format\":1," STREAM "," MESH "," NUMBERS,
        "{\"format\":1,\"stream\":\"00\"," MESH "," NUMBERS ",\"required\":[]",
        "{\"format\":1," STREAM ",\"dp\":0,\"cp\":1," NUMBERS
        ",\"required\":[]",
        "{\"format\":1," STREAM ",\"dp\":4294967298,\"cp\":1," NUMBERS
        ",\"required\":[]",
        "{\"format\":1," STREAM "," MESH ",\"producers\":1,"
        "\"max_live_steps\":9223372036854775808,\"max_live_bytes\":0,"
        "\"first_step\":0,\"created_ms\":0,\"required\":[]",
        GOOD ",\"probe\":1",
        GOOD ",\"parent\":1",
        GOOD ",\"parent\":{\"url\":\"file:///a\"}",
        GOOD ",\"parent\":{\"url\":\"file:///a\",\"stream\":\"zz\"}",
        GOOD ",\"x\":\"\xff\"",
        GOOD ",\"x\":\"\\u0000\"",
    };
    struct lks_error error;

    (void)state;
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
        assert_status(LKS_CORRUPT, decode_body(bodies[i], &error));
}

static enum lks_status encode_and_decode(void *arg)
{
    struct lks_descriptor descriptor = make_descriptor();
    struct lks_error error;
    enum lks_status status;
    struct lks_buf buf;

    (void)arg;
    descriptor.parent_url = (char *)"file:///parent";
    lks_buf_init(&buf, LKS_DESCRIPTOR_SIZE_MAX);
    status = lks_descriptor_encode(&descriptor, &buf, &error);
    if (status == LKS_OK)
        status = lks_descriptor_decode(buf.data, buf.size, &descriptor, &error);
    if (status == LKS_OK)
        lks_descriptor_done(&descriptor);
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
        cmocka_unit_test(a_descriptor_is_that_of_the_document),
        cmocka_unit_test(the_largest_numbers_come_back),
        cmocka_unit_test(what_json_cannot_hold_is_not_written),
        cmocka_unit_test(a_mesh_has_ranks_but_not_too_many),
        cmocka_unit_test(every_flipped_bit_is_refused),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(unknown_keys_are_passed_over),
        cmocka_unit_test(a_newer_format_is_unsupported),
        cmocka_unit_test(a_required_feature_is_named_and_refused),
        cmocka_unit_test(what_cannot_be_true_is_refused),
        cmocka_unit_test(a_failing_allocation_leaves_nothing_behind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
