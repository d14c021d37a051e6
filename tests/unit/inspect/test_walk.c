/*
 * Walking the steps: which lines come, in which order, and who may stop it.
 */
#include <stdio.h>

#include "support/torture.h"
#include "support/verify_check.h"

struct reader {
    uint64_t first; /* the step that comes first */
    uint64_t count;
    uint64_t stop_after;
    char last[256];
};

static enum lks_status read_line(const char *line, void *arg)
{
    struct reader *reader = arg;
    char expected[32];

    snprintf(expected, sizeof(expected), "{\"step\": %llu, ",
             (unsigned long long)(reader->first + reader->count));
    if (strncmp(line, expected, strlen(expected)) != 0)
        fail_msg("got %s, expected %s", line, expected);
    snprintf(reader->last, sizeof(reader->last), "%s", line);
    reader->count++;
    return reader->count == reader->stop_after ? LKS_CANCELLED : LKS_OK;
}

static uint64_t walk(uint64_t from, uint64_t to)
{
    struct reader reader = {.first = from};
    struct lks_error error;

    assert_status(LKS_OK, lks_inspect_walk(forge.stream, from, to, read_line,
                                           &reader, &error));
    return reader.count;
}

static void all_steps_come_in_order(void **state)
{
    (void)state;
    forge_init(&forge, 1, 1, 3);
    forge_fill(&forge, 700, 9);
    assert_int_equal(walk(0, UINT64_MAX), 700);
    assert_int_equal(walk(0, 0), 0);
    assert_int_equal(walk(255, 257), 2);
    assert_int_equal(walk(511, 700), 189);
    assert_int_equal(walk(699, 800), 1);
    assert_int_equal(walk(700, 800), 0);
    assert_int_equal(walk(UINT64_MAX, UINT64_MAX), 0);
    assert_int_equal(walk(5, 3), 0);
}

static void an_empty_stream_has_no_lines(void **state)
{
    (void)state;
    forge_init(&forge, 1, 1, 0);
    assert_int_equal(walk(0, UINT64_MAX), 0);
}

static void a_line_says_who_and_when(void **state)
{
    struct reader reader = {.first = 2};
    struct lks_error error;

    (void)state;
    forge_init(&forge, 1, 1, 2);
    forge_open(&forge, 1);
    forge_append(&forge, 0, 2);
    forge_append(&forge, 1, 1);
    assert_status(LKS_OK, lks_inspect_walk(forge.stream, 2, 3, read_line,
                                           &reader, &error));
    assert_non_null(strstr(reader.last, "\"producer\": \"p1\", \"epoch\": 2, "
                                        "\"seq\": 0, \"bytes\": "));
    assert_non_null(strstr(reader.last, "\"version\": 5"));
    assert_non_null(strstr(reader.last, "\"object\": \"data/p1/2-"));
}

static void who_reads_may_stop(void **state)
{
    struct reader reader = {.stop_after = 300};
    struct lks_error error;

    (void)state;
    forge_init(&forge, 1, 1, 1);
    forge_fill(&forge, 400, 50);
    assert_status(LKS_CANCELLED, lks_inspect_walk(forge.stream, 0, 400,
                                                  read_line, &reader, &error));
    assert_int_equal(reader.count, 300);
}

static void a_missing_block_is_corruption(void **state)
{
    struct reader reader = {.count = 0};
    struct lks_error error;

    (void)state;
    forge_init(&forge, 1, 1, 1);
    forge_fill(&forge, 600, 50);
    forge_remove(&forge, "index/0000000000000001");
    assert_status(LKS_CORRUPT, lks_inspect_walk(forge.stream, 0, 600, read_line,
                                                &reader, &error));
    assert_message_has("index/0000000000000001 is missing");
    assert_int_equal(reader.count, 256);
}

static enum lks_status walk_once(void *arg)
{
    struct reader reader = {.count = 0};

    (void)arg;
    return lks_inspect_walk(forge.stream, 0, 300, read_line, &reader, NULL);
}

static void it_survives_every_failing_allocation(void **state)
{
    (void)state;
    forge_init(&forge, 1, 1, 1);
    forge_fill(&forge, 257, 128);
    torture(walk_once, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        VERIFY_TEST(all_steps_come_in_order),
        VERIFY_TEST(an_empty_stream_has_no_lines),
        VERIFY_TEST(a_line_says_who_and_when),
        VERIFY_TEST(who_reads_may_stop),
        VERIFY_TEST(a_missing_block_is_corruption),
        VERIFY_TEST(it_survives_every_failing_allocation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
