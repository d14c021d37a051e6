/* The growing buffer: its content, its ceiling, its memory. */
#include "base/buf.h"
#include "support/check.h"
#include "support/torture.h"

static void appended_bytes_stand_in_order(void **state)
{
    struct lks_error error;
    struct lks_buf buf;

    (void)state;
    lks_buf_init(&buf, 1000);
    assert_status(LKS_OK, lks_buf_append(&buf, "abc", 3, &error));
    assert_status(LKS_OK, lks_buf_append(&buf, NULL, 0, &error));
    assert_status(LKS_OK, lks_buf_append_zero(&buf, 2, &error));
    assert_status(LKS_OK,
                  lks_buf_append_format(&buf, &error, "%d-%s", 17, "x"));
    assert_int_equal(buf.size, 9);
    assert_memory_equal(buf.data, "abc\0\00017-x", 9);
    lks_buf_done(&buf);
    assert_null(buf.data);
    assert_int_equal(buf.size, 0);
}

static void it_holds_as_much_as_its_ceiling_and_no_more(void **state)
{
    struct lks_error error;
    struct lks_buf buf;
    char nine[] = "123456789";

    (void)state;
    lks_buf_init(&buf, 9);
    assert_status(LKS_INVALID, lks_buf_append(&buf, "1234567890", 10, &error));
    assert_int_equal(buf.size, 0);
    assert_status(LKS_OK, lks_buf_append(&buf, nine, 9, &error));
    assert_status(LKS_OK, lks_buf_append(&buf, "", 0, &error));
    assert_status(LKS_INVALID, lks_buf_append(&buf, "0", 1, &error));
    assert_message_has("9 allowed");
    assert_status(LKS_INVALID, lks_buf_append_zero(&buf, 1, &error));
    assert_status(LKS_INVALID, lks_buf_append_format(&buf, &error, "%d", 0));
    assert_status(LKS_INVALID, lks_buf_reserve(&buf, SIZE_MAX, &error));
    assert_int_equal(buf.size, 9);
    assert_memory_equal(buf.data, nine, 9);
    lks_buf_done(&buf);
}

static void a_text_may_fill_it_to_the_last_byte(void **state)
{
    struct lks_error error;
    struct lks_buf buf;
    char *text;

    (void)state;
    lks_buf_init(&buf, 5);
    assert_status(LKS_OK, lks_buf_append_format(&buf, &error, "%05d", 42));
    text = lks_buf_take_text(&buf);
    assert_string_equal(text, "00042");
    lks_free(text);
}

static void it_grows_through_many_small_appends(void **state)
{
    struct lks_error error;
    struct lks_buf buf;

    (void)state;
    lks_buf_init(&buf, 100000);
    for (int i = 0; i < 100000; i++) {
        uint8_t byte = (uint8_t)(i * 7);

        assert_status(LKS_OK, lks_buf_append(&buf, &byte, 1, &error));
        assert_true(buf.size <= buf.capacity);
        assert_true(buf.capacity <= buf.size_max);
    }
    for (int i = 0; i < 100000; i++)
        assert_int_equal(buf.data[i], (uint8_t)(i * 7));
    assert_status(LKS_INVALID, lks_buf_append(&buf, "x", 1, &error));
    lks_buf_done(&buf);
}

static void growing_is_doubling(void **state)
{
    struct lks_error error;
    struct lks_buf buf;

    (void)state;
    lks_buf_init(&buf, 1 << 20);
    lks_alloc_fail_at(0);
    for (int i = 0; i < 1 << 20; i++)
        assert_status(LKS_OK, lks_buf_append(&buf, "x", 1, &error));
    assert_true(lks_alloc_count() <= 16);
    lks_buf_done(&buf);
}

static void reserved_room_is_there_to_be_written(void **state)
{
    struct lks_error error;
    struct lks_buf buf;

    (void)state;
    lks_buf_init(&buf, 4096);
    assert_status(LKS_OK, lks_buf_reserve(&buf, 4096, &error));
    assert_int_equal(buf.size, 0);
    assert_true(buf.capacity >= 4096);
    memset(buf.data, 1, 4096);
    buf.size = 4096;
    assert_status(LKS_OK, lks_buf_reserve(&buf, 0, &error));
    assert_status(LKS_INVALID, lks_buf_reserve(&buf, 1, &error));
    lks_buf_done(&buf);
}

static void clearing_keeps_the_memory(void **state)
{
    struct lks_error error;
    struct lks_buf buf;
    uint8_t *data;

    (void)state;
    lks_buf_init(&buf, 100);
    assert_status(LKS_OK, lks_buf_append(&buf, "abc", 3, &error));
    data = buf.data;
    lks_buf_clear(&buf);
    assert_int_equal(buf.size, 0);
    assert_status(LKS_OK, lks_buf_append(&buf, "xyz", 3, &error));
    assert_ptr_equal(buf.data, data);
    lks_buf_done(&buf);
}

static void a_taken_text_leaves_it_empty_and_usable(void **state)
{
    struct lks_error error;
    struct lks_buf buf;
    char *first;
    char *second;
    char *empty;

    (void)state;
    lks_buf_init(&buf, 100);
    assert_status(LKS_OK, lks_buf_append(&buf, "one", 3, &error));
    first = lks_buf_take_text(&buf);
    assert_int_equal(buf.size, 0);
    assert_status(LKS_OK, lks_buf_append(&buf, "two", 3, &error));
    second = lks_buf_take_text(&buf);
    empty = lks_buf_take_text(&buf);
    assert_string_equal(first, "one");
    assert_string_equal(second, "two");
    assert_string_equal(empty, "");
    lks_free(first);
    lks_free(second);
    lks_free(empty);
}

static void a_buffer_of_nothing_takes_nothing(void **state)
{
    struct lks_error error;
    struct lks_buf buf;
    char *text;

    (void)state;
    lks_buf_init(&buf, 0);
    assert_status(LKS_OK, lks_buf_append(&buf, "", 0, &error));
    assert_status(LKS_OK, lks_buf_append_zero(&buf, 0, &error));
    assert_status(LKS_INVALID, lks_buf_append(&buf, "x", 1, &error));
    text = lks_buf_take_text(&buf);
    assert_string_equal(text, "");
    lks_free(text);
    lks_buf_done(&buf);
}

static enum lks_status fill_and_take(void *arg)
{
    struct lks_buf buf;
    enum lks_status status = LKS_OK;
    char *text;

    (void)arg;
    lks_buf_init(&buf, 10000);
    for (int i = 0; i < 1000 && status == LKS_OK; i++)
        status = lks_buf_append_format(&buf, NULL, "%d", i);
    if (status == LKS_OK)
        status = lks_buf_append_zero(&buf, 1000, NULL);
    if (status != LKS_OK) {
        lks_buf_done(&buf);
        return status;
    }
    text = lks_buf_take_text(&buf);
    lks_free(text);
    return text != NULL ? LKS_OK : LKS_NO_MEMORY;
}

static enum lks_status take_of_empty(void *arg)
{
    struct lks_buf buf;
    char *text;

    (void)arg;
    lks_buf_init(&buf, 10);
    text = lks_buf_take_text(&buf);
    lks_free(text);
    return text != NULL ? LKS_OK : LKS_NO_MEMORY;
}

static void it_survives_any_allocation_that_fails(void **state)
{
    (void)state;
    torture(fill_and_take, NULL);
    torture(take_of_empty, NULL);
}

static void a_failed_append_leaves_the_content(void **state)
{
    struct lks_error error;
    struct lks_buf buf;

    (void)state;
    lks_buf_init(&buf, 10000);
    assert_status(LKS_OK, lks_buf_append(&buf, "kept", 4, &error));
    lks_alloc_fail_at(1);
    assert_status(LKS_NO_MEMORY, lks_buf_append_zero(&buf, 5000, &error));
    lks_alloc_fail_at(0);
    assert_int_equal(buf.size, 4);
    assert_memory_equal(buf.data, "kept", 4);
    lks_buf_done(&buf);
    lks_buf_done(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appended_bytes_stand_in_order),
        cmocka_unit_test(it_holds_as_much_as_its_ceiling_and_no_more),
        cmocka_unit_test(a_text_may_fill_it_to_the_last_byte),
        cmocka_unit_test(it_grows_through_many_small_appends),
        cmocka_unit_test(growing_is_doubling),
        cmocka_unit_test(reserved_room_is_there_to_be_written),
        cmocka_unit_test(clearing_keeps_the_memory),
        cmocka_unit_test(a_taken_text_leaves_it_empty_and_usable),
        cmocka_unit_test(a_buffer_of_nothing_takes_nothing),
        cmocka_unit_test(it_survives_any_allocation_that_fails),
        cmocka_unit_test(a_failed_append_leaves_the_content),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
