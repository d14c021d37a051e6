/*
 * The probe's checks: each tries one promise of store.h, with a handful of
 * requests. Their order is from what the protocol cannot do without to what it
 * is merely easier with.
 */
#include "store/probe.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* How far apart the store's clocks may be, and no harm done. */
#define CLOCK_SKEW_MS INT64_C(60000)

/* Dates may have steps of a second, and come from several machines. */
#define DATE_STEP_MS INT64_C(5000)

#define LIST_MAX 32u
#define PAGE 4u

/* In the order of their bytes; other orders mix up letters of both cases, sort
 * numbers by value, or skip punctuation. */
static const char *const ordered[] = {
    "list/B1", "list/a-1", "list/a.1", "list/a/1", "list/a10",
    "list/a9", "list/a_1", "list/aa",  "list/b0",
};

#define ORDERED_COUNT (sizeof(ordered) / sizeof(ordered[0]))
#define ORDERED_IN_A_COUNT 7u /* those that begin with "list/a" */

static enum lks_status broken(struct lks_error *error, const char *what)
{
    return lks_error_set(error, LKS_UNSUPPORTED, "%s", what);
}

static enum lks_status check_create_if_absent(struct lks_probe *probe,
                                              struct lks_error *error)
{
    const char *key = lks_probe_key(probe, "created");
    struct lks_call call = LKS_CALL_INIT;
    enum lks_status status;

    status = lks_probe_create(probe, key, "first", error);
    if (status == LKS_EXISTS)
        return broken(error, "a name that nobody has used is said to exist");
    if (status == LKS_OK)
        status = lks_probe_expect(probe, key, "first", error);
    if (status != LKS_OK)
        return status;

    /* For the check of the clock, the last one. */
    call.want_date = true;
    probe->begin_sent_ns = lks_env_now_ns(probe->store->env);
    status = lks_store_stat(probe->store, key, &call, error);
    probe->begin_date_ms = call.date_ms;
    probe->begin_ns = lks_env_now_ns(probe->store->env);
    lks_probe_note(probe, "created");
    return status;
}

static enum lks_status check_create_if_present(struct lks_probe *probe,
                                               struct lks_error *error)
{
    const char *key = lks_probe_key(probe, "present");
    struct lks_call before = LKS_CALL_INIT;
    struct lks_call after = LKS_CALL_INIT;
    enum lks_status status;

    status = lks_probe_put(probe, key, "first", error);
    if (status == LKS_OK)
        status = lks_store_stat(probe->store, key, &before, error);
    if (status != LKS_OK)
        return status;
    status = lks_probe_create(probe, key, "second", error);
    if (status == LKS_OK)
        return broken(error, "the condition is ignored: a second create of a "
                             "name succeeded");
    if (status != LKS_EXISTS)
        return status;

    status = lks_probe_expect(probe, key, "first", error);
    if (status == LKS_OK)
        status = lks_store_stat(probe->store, key, &after, error);
    if (status != LKS_OK)
        return status;
    if (strcmp(before.etag, after.etag) != 0)
        return broken(error, "a refused create changed the object's tag");
    lks_probe_note(probe, "refused, and the object is untouched");
    return LKS_OK;
}

static enum lks_status check_overwrite(struct lks_probe *probe,
                                       struct lks_error *error)
{
    const char *key = lks_probe_key(probe, "overwritten");
    struct lks_call before = LKS_CALL_INIT;
    struct lks_call after = LKS_CALL_INIT;
    enum lks_status status;

    status = lks_probe_put(probe, key, "first", error);
    if (status == LKS_OK)
        status = lks_probe_expect(probe, key, "first", error);
    if (status == LKS_OK)
        status = lks_store_stat(probe->store, key, &before, error);
    if (status == LKS_OK)
        status = lks_probe_put(probe, key, "second", error);
    if (status == LKS_OK)
        status = lks_probe_expect(probe, key, "second", error);
    if (status == LKS_OK)
        status = lks_store_stat(probe->store, key, &after, error);
    if (status != LKS_OK)
        return status;
    if (strcmp(before.etag, after.etag) == 0)
        return broken(error, "an overwritten object has the same tag");
    lks_probe_note(probe, "a put is seen by the next get");
    return LKS_OK;
}

/* Reads [offset, offset + size) of "0123456789" and expects `text`. */
static enum lks_status expect_range(struct lks_probe *probe,
                                    const char *key,
                                    uint64_t offset,
                                    size_t size,
                                    const char *text,
                                    struct lks_error *error)
{
    struct lks_call call = LKS_CALL_INIT;
    char found[LIST_MAX] = "";
    enum lks_status status;
    size_t got = 0;

    status = lks_store_get(probe->store, key, offset, found, size, &got, &call,
                           error);
    if (status == LKS_NOT_FOUND || status == LKS_INVALID)
        return broken(error, "a range of an object is refused");
    if (status != LKS_OK)
        return status;
    if (got == strlen(text) && memcmp(found, text, got) == 0 &&
        call.object_size == 10)
        return LKS_OK;
    return lks_error_set(error, LKS_UNSUPPORTED,
                         "%zu bytes from %" PRIu64 " of '0123456789' gave "
                         "%zu bytes '%.*s' of an object of %" PRIu64,
                         size, offset, got, (int)got, found, call.object_size);
}

static enum lks_status check_range_read(struct lks_probe *probe,
                                        struct lks_error *error)
{
    const char *key = lks_probe_key(probe, "range");
    enum lks_status status;

    status = lks_probe_put(probe, key, "0123456789", error);
    if (status == LKS_OK)
        status = expect_range(probe, key, 0, 10, "0123456789", error);
    if (status == LKS_OK)
        status = expect_range(probe, key, 3, 4, "3456", error);
    if (status == LKS_OK)
        status = expect_range(probe, key, 8, 10, "89", error);
    if (status == LKS_OK)
        status = expect_range(probe, key, 10, 10, "", error);
    if (status == LKS_OK)
        status = expect_range(probe, key, 1000, 10, "", error);
    if (status == LKS_OK)
        lks_probe_note(probe, "inside, across and past the end");
    return status;
}

/* LKS_NOT_FOUND, by get and by stat, is what we want to hear. */
static enum lks_status expect_missing(struct lks_probe *probe,
                                      const char *key,
                                      struct lks_error *error)
{
    enum lks_status status;
    size_t got;
    char byte;

    status = lks_store_get(probe->store, key, 0, &byte, 1, &got, NULL, error);
    if (status == LKS_NOT_FOUND)
        status = lks_store_stat(probe->store, key, NULL, error);
    if (status == LKS_NOT_FOUND)
        return LKS_OK;
    if (status == LKS_OK)
        return broken(error, "an object that is not there is found");
    if (status == LKS_DENIED)
        return broken(error, "a missing object is answered with 'denied'; the "
                             "credentials need the right to list");
    return status;
}

static enum lks_status check_missing(struct lks_probe *probe,
                                     struct lks_error *error)
{
    const char *key = lks_probe_key(probe, "missing");
    enum lks_status status = expect_missing(probe, key, error);

    if (status == LKS_OK)
        lks_probe_note(probe, "not found");
    return status;
}

static enum lks_status list(struct lks_probe *probe,
                            const char *prefix,
                            const char *after,
                            size_t max,
                            struct lks_listed *listed,
                            size_t *out_count,
                            struct lks_error *error)
{
    char whole_prefix[LKS_KEY_SIZE_MAX + 1];
    char whole_after[LKS_KEY_SIZE_MAX + 1] = "";

    snprintf(whole_prefix, sizeof(whole_prefix), "%s%s", probe->prefix, prefix);
    if (after[0] != '\0')
        snprintf(whole_after, sizeof(whole_after), "%s%s", probe->prefix,
                 after);
    return lks_store_list(probe->store, whole_prefix, whole_after, max, listed,
                          out_count, NULL, error);
}

static enum lks_status check_list_after_write(struct lks_probe *probe,
                                              struct lks_error *error)
{
    const char *key = lks_probe_key(probe, "shown/1");
    const char *const removed[] = {key};
    struct lks_listed listed[2];
    enum lks_status status;
    size_t count = 0;

    status = lks_probe_put(probe, key, "listed", error);
    if (status == LKS_OK)
        status = list(probe, "shown/", "", 2, listed, &count, error);
    if (status != LKS_OK)
        return status;
    if (count != 1 || strcmp(listed[0].key, key) != 0)
        return broken(error, "an object is not listed right after its write");
    if (listed[0].size != strlen("listed"))
        return broken(error, "an object is listed with another size");

    status = lks_store_remove(probe->store, removed, 1, NULL, error);
    if (status == LKS_OK)
        status = list(probe, "shown/", "", 2, listed, &count, error);
    if (status != LKS_OK)
        return status;
    if (count != 0)
        return broken(error, "an object is listed after it was removed");
    lks_probe_note(probe, "shown once written, gone once removed");
    return LKS_OK;
}

/* Expects names [begin, end) of `ordered`, in that order. */
static enum lks_status expect_listed(struct lks_probe *probe,
                                     size_t begin,
                                     size_t end,
                                     const struct lks_listed *listed,
                                     size_t count,
                                     struct lks_error *error)
{
    size_t prefix_size = strlen(probe->prefix);

    for (size_t i = 0; i < count && begin + i < end; i++) {
        if (strcmp(listed[i].key + prefix_size, ordered[begin + i]) != 0)
            return lks_error_set(error, LKS_UNSUPPORTED,
                                 "place %zu of the list has '%s' instead of "
                                 "'%s'",
                                 i, listed[i].key + prefix_size,
                                 ordered[begin + i]);
    }
    if (count != end - begin)
        return lks_error_set(error, LKS_UNSUPPORTED,
                             "%zu keys are listed instead of %zu", count,
                             end - begin);
    return LKS_OK;
}

static enum lks_status check_list_order(struct lks_probe *probe,
                                        struct lks_error *error)
{
    struct lks_listed listed[LIST_MAX];
    enum lks_status status = LKS_OK;
    size_t count = 0;

    /* Written from both ends, so that the order of writing is another. */
    for (size_t i = 0; i < ORDERED_COUNT && status == LKS_OK; i++) {
        size_t at = i % 2 == 0 ? i / 2 : ORDERED_COUNT - 1 - i / 2;

        status =
            lks_probe_put(probe, lks_probe_key(probe, ordered[at]), "", error);
    }
    if (status == LKS_OK)
        status = list(probe, "list/", "", LIST_MAX, listed, &count, error);
    if (status == LKS_OK)
        status = expect_listed(probe, 0, ORDERED_COUNT, listed, count, error);
    if (status == LKS_OK)
        lks_probe_note(probe, "keys come in the order of their bytes");
    return status;
}

static enum lks_status check_list_prefix(struct lks_probe *probe,
                                         struct lks_error *error)
{
    struct lks_listed listed[LIST_MAX];
    enum lks_status status;
    size_t count = 0;

    status = list(probe, "list/a", "", LIST_MAX, listed, &count, error);
    if (status == LKS_OK)
        status = expect_listed(probe, 1, 1 + ORDERED_IN_A_COUNT, listed, count,
                               error);
    if (status == LKS_OK)
        lks_probe_note(probe, "a prefix may end within a name");
    return status;
}

static enum lks_status check_list_start_after(struct lks_probe *probe,
                                              struct lks_error *error)
{
    struct lks_listed listed[LIST_MAX];
    enum lks_status status = LKS_OK;
    size_t count = 0;

    for (size_t i = 0; i < ORDERED_COUNT && status == LKS_OK; i++) {
        status =
            list(probe, "list/", ordered[i], LIST_MAX, listed, &count, error);
        if (status == LKS_OK)
            status = expect_listed(probe, i + 1, ORDERED_COUNT, listed, count,
                                   error);
    }
    if (status == LKS_OK)
        lks_probe_note(probe, "a list goes on after any key");
    return status;
}

static enum lks_status check_list_max(struct lks_probe *probe,
                                      struct lks_error *error)
{
    struct lks_listed listed[LIST_MAX];
    enum lks_status status = LKS_OK;
    const char *after = "";
    size_t count = 0;

    for (size_t at = 0; at <= ORDERED_COUNT && status == LKS_OK; at += PAGE) {
        size_t end = at + PAGE < ORDERED_COUNT ? at + PAGE : ORDERED_COUNT;

        status = list(probe, "list/", after, PAGE, listed, &count, error);
        if (status == LKS_OK)
            status = expect_listed(probe, at, end, listed, count, error);
        after = ordered[end - 1];
    }
    if (status == LKS_OK)
        lks_probe_note(probe, "pages of %u make the whole", PAGE);
    return status;
}

static enum lks_status check_remove(struct lks_probe *probe,
                                    struct lks_error *error)
{
    const char *keys[2];
    enum lks_status status;

    keys[0] = lks_probe_key(probe, "removed");
    keys[1] = lks_probe_key(probe, "never-there");
    status = lks_probe_put(probe, keys[0], "removed", error);
    if (status == LKS_OK)
        status = lks_store_remove(probe->store, keys, 2, NULL, error);
    if (status == LKS_OK)
        status = expect_missing(probe, keys[0], error);
    if (status == LKS_OK)
        status = lks_store_remove(probe->store, keys, 2, NULL, error);
    if (status == LKS_OK)
        status = lks_probe_create(probe, keys[0], "again", error);
    if (status == LKS_EXISTS)
        return broken(error, "the name of a removed object is not free");
    if (status == LKS_OK)
        lks_probe_note(probe, "removed, not found, and its name is free");
    return status;
}

static enum lks_status check_case(struct lks_probe *probe,
                                  struct lks_error *error)
{
    const char *upper = lks_probe_key(probe, "case/Name");
    const char *lower = lks_probe_key(probe, "case/name");
    enum lks_status status;

    status = lks_probe_create(probe, upper, "upper", error);
    if (status != LKS_OK)
        return status;
    status = lks_probe_create(probe, lower, "lower", error);
    if (status == LKS_EXISTS)
        return broken(error, "names that differ in upper and lower case are "
                             "one name here");
    if (status == LKS_OK)
        status = lks_probe_expect(probe, upper, "upper", error);
    if (status == LKS_OK)
        lks_probe_note(probe, "upper and lower case differ");
    return status;
}

/* How far a date is off what lies between two others. */
static int64_t distance(int64_t date_ms, int64_t from_ms, int64_t to_ms)
{
    if (date_ms < from_ms)
        return from_ms - date_ms;
    return date_ms > to_ms ? date_ms - to_ms : 0;
}

static enum lks_status check_clock(struct lks_probe *probe,
                                   struct lks_error *error)
{
    const struct lks_env *env = probe->store->env;
    const char *key = lks_probe_key(probe, "dated");
    struct lks_call call = LKS_CALL_INIT;
    enum lks_status status;
    uint64_t sent_ns;
    int64_t least_ms;
    int64_t passed_ms;
    int64_t moved_ms;

    call.want_date = true;
    status = lks_probe_put(probe, key, "dated", error);
    sent_ns = lks_env_now_ns(env);
    if (status == LKS_OK)
        status = lks_store_stat(probe->store, key, &call, error);
    if (status != LKS_OK)
        return status;
    if (probe->begin_date_ms == INT64_MIN || call.date_ms == INT64_MIN)
        return broken(error, "replies have no date");

    /* Replies may be slow, and this process may be stopped on the way. */
    least_ms = (int64_t)((sent_ns - probe->begin_ns) / LKS_NS_PER_MS);
    passed_ms =
        (int64_t)((lks_env_now_ns(env) - probe->begin_sent_ns) / LKS_NS_PER_MS);
    moved_ms = call.date_ms - probe->begin_date_ms;
    if (moved_ms < least_ms - DATE_STEP_MS ||
        moved_ms > passed_ms + DATE_STEP_MS)
        return lks_error_set(error, LKS_UNSUPPORTED,
                             "the store's clock moved by %" PRId64
                             " ms in %" PRId64 " ms",
                             moved_ms, passed_ms);
    /* A put may take its time, and be dated when it began. */
    if (distance(call.modified_ms, probe->begin_date_ms, call.date_ms) >
        CLOCK_SKEW_MS)
        return lks_error_set(error, LKS_UNSUPPORTED,
                             "a new object is dated %" PRId64
                             " ms off the store's clock",
                             call.modified_ms - call.date_ms);
    lks_probe_note(probe,
                   "moved %" PRId64 " ms in %" PRId64
                   " ms; ahead of this machine by %" PRId64 " ms",
                   moved_ms, passed_ms, call.date_ms - lks_env_wall_ms(env));
    return LKS_OK;
}

const struct lks_probe_check lks_probe_checks[] = {
    {"create-if-absent", check_create_if_absent},
    {"create-if-present", check_create_if_present},
    {"create-race", lks_probe_race},
    {"overwrite", check_overwrite},
    {"range-read", check_range_read},
    {"missing-is-not-found", check_missing},
    {"remove", check_remove},
    {"list-after-write", check_list_after_write},
    {"list-order", check_list_order},
    {"list-prefix", check_list_prefix},
    {"list-start-after", check_list_start_after},
    {"list-max", check_list_max},
    {"case-sensitive", check_case},
    {"clock", check_clock},
};

const size_t lks_probe_check_count =
    sizeof(lks_probe_checks) / sizeof(lks_probe_checks[0]);
