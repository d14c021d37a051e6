/* The contract: many threads at once. */
#include <stdio.h>

#include "support/store_suite.h"

#define THREADS_MAX 32u

struct crew;

struct worker {
    struct crew *crew;
    struct lks_thread *thread;
    uint32_t index;
    uint32_t won_count;
    uint32_t round_count;
    char trouble[LKS_ERROR_SIZE]; /* asserts belong to the main thread */
};

struct crew {
    struct lks_store *store;
    uint32_t name_count;
    atomic_bool stop;
    struct worker workers[THREADS_MAX];
};

static void report(struct worker *worker,
                   const char *what,
                   enum lks_status status,
                   const struct lks_error *error)
{
    snprintf(worker->trouble, sizeof(worker->trouble), "%s: %s: %.300s", what,
             lks_status_name(status), status == LKS_OK ? "" : error->message);
}

static void crew_init(struct crew *crew, const struct store_fixture *fixture)
{
    memset(crew, 0, sizeof(*crew));
    crew->store = fixture->store;
    crew->name_count = fixture->backend->name_count;
    atomic_init(&crew->stop, false);
}

static void crew_start(struct crew *crew, uint32_t index, lks_thread_fn *run)
{
    struct worker *worker = &crew->workers[index];
    struct lks_error error;

    worker->crew = crew;
    worker->index = index;
    assert_status(LKS_OK, lks_thread_start(lks_env_real(), "test", run, worker,
                                           &worker->thread, &error));
}

static void crew_join(struct crew *crew)
{
    for (uint32_t i = 0; i < THREADS_MAX; i++)
        lks_thread_join(lks_env_real(), crew->workers[i].thread);
    for (uint32_t i = 0; i < THREADS_MAX; i++) {
        if (crew->workers[i].trouble[0] != '\0')
            fail_msg("thread %u: %s", i, crew->workers[i].trouble);
    }
}

static void create_all(void *arg)
{
    struct worker *worker = arg;
    struct lks_part part = {.data = &worker->index,
                            .size = sizeof(worker->index)};
    struct lks_error error;

    for (uint32_t i = 0; i < worker->crew->name_count; i++) {
        enum lks_status status;
        char key[32];

        snprintf(key, sizeof(key), "race/%u/%u", i % 5, i);
        status =
            lks_store_create(worker->crew->store, key, &part, 1, NULL, &error);
        if (status == LKS_OK)
            worker->won_count++;
        else if (status != LKS_EXISTS)
            report(worker, key, status, &error);
    }
}

static void each_name_is_created_by_one_of_many_threads(void **state)
{
    const struct store_fixture *fixture = *state;
    uint32_t thread_count = fixture->backend->thread_count;
    uint32_t found_counts[THREADS_MAX] = {0};
    uint32_t won_count = 0;
    struct lks_error error;
    struct crew crew;

    crew_init(&crew, fixture);
    for (uint32_t i = 0; i < thread_count; i++)
        crew_start(&crew, i, create_all);
    crew_join(&crew);

    for (uint32_t i = 0; i < crew.name_count; i++) {
        uint32_t winner;
        char key[32];

        snprintf(key, sizeof(key), "race/%u/%u", i % 5, i);
        assert_status(LKS_OK,
                      lks_store_get_exact(crew.store, key, 0, &winner,
                                          sizeof(winner), NULL, &error));
        assert_true(winner < thread_count);
        found_counts[winner]++;
    }
    for (uint32_t i = 0; i < thread_count; i++) {
        assert_int_equal(crew.workers[i].won_count, found_counts[i]);
        won_count += crew.workers[i].won_count;
    }
    assert_int_equal(won_count, crew.name_count);
}

/* Makes and removes objects beside those that stay, also whole folders. */
static void make_and_remove(void *arg)
{
    struct worker *worker = arg;
    struct lks_part part = {.data = "passing", .size = 7};
    struct lks_error error;
    enum lks_status status;
    const char *name;
    char key[64];

    for (uint32_t i = 0; !atomic_load(&worker->crew->stop); i++) {
        snprintf(key, sizeof(key), "shared/%s%u/x%u", i % 2 == 0 ? "p" : "",
                 i % 7, worker->index);
        status =
            lks_store_create(worker->crew->store, key, &part, 1, NULL, &error);
        if (status != LKS_OK)
            report(worker, key, status, &error);
        snprintf(key, sizeof(key), "shared/over%u", i % 3);
        status =
            lks_store_put(worker->crew->store, key, &part, 1, NULL, &error);
        if (status != LKS_OK)
            report(worker, key, status, &error);
        snprintf(key, sizeof(key), "shared/%s%u/x%u", i % 2 == 0 ? "p" : "",
                 i % 7, worker->index);
        name = key;
        status = lks_store_remove(worker->crew->store, &name, 1, NULL, &error);
        if (status != LKS_OK)
            report(worker, key, status, &error);
        worker->round_count++;
    }
}

/* The keys that stay are all there, in ascending order, each once. */
static void expect_those_that_stay(struct lks_store *store, uint32_t count)
{
    static struct lks_listed listed[LKS_LIST_MAX];
    char after[LKS_KEY_SIZE_MAX + 1] = "";
    struct lks_error error;
    uint32_t stay_count = 0;
    uint32_t over_count = 0;
    size_t listed_count;

    do {
        assert_status(LKS_OK,
                      lks_store_list(store, "shared/", after, 17, listed,
                                     &listed_count, NULL, &error));
        for (size_t i = 0; i < listed_count; i++) {
            assert_true(strcmp(listed[i].key, after) > 0);
            memcpy(after, listed[i].key, sizeof(after));
            stay_count += strstr(after, "/stays") != NULL;
            over_count += strstr(after, "/over") != NULL;
        }
    } while (listed_count == 17);
    assert_int_equal(stay_count, count);
    assert_int_equal(over_count, 3);
}

static void what_exists_throughout_is_in_every_list(void **state)
{
    const struct store_fixture *fixture = *state;
    uint32_t count = fixture->backend->name_count;
    struct crew crew;

    crew_init(&crew, fixture);
    for (uint32_t i = 0; i < count; i++) {
        char key[64];

        snprintf(key, sizeof(key), "shared/%u/stays%u", i % 7, i);
        suite_create(fixture->store, key, "stays");
    }
    for (uint32_t i = 0; i < 3; i++) {
        char key[64];

        snprintf(key, sizeof(key), "shared/over%u", i);
        suite_put(fixture->store, key, "stays");
    }
    for (uint32_t i = 0; i < 4; i++)
        crew_start(&crew, i, make_and_remove);
    for (uint32_t i = 0; i < 50; i++)
        expect_those_that_stay(fixture->store, count);
    atomic_store(&crew.stop, true);
    crew_join(&crew);
}

/* All its bytes are the same, and their number follows from them. */
static bool is_whole(const uint8_t *data, size_t size)
{
    if (size == 0 || size != 1000u * data[0])
        return false;
    return memcmp(data, data + 1, size - 1) == 0;
}

static void overwrite(void *arg)
{
    struct worker *worker = arg;
    uint8_t data[8000];
    struct lks_error error;

    for (uint32_t i = 0; !atomic_load(&worker->crew->stop); i++) {
        uint8_t value = (uint8_t)(1 + i % 8);
        struct lks_part parts[2] = {{data, 999u * value}, {data, value}};
        enum lks_status status;

        memset(data, value, sizeof(data));
        status =
            lks_store_put(worker->crew->store, "whole", parts, 2, NULL, &error);
        if (status != LKS_OK)
            report(worker, "put", status, &error);
        worker->round_count++;
    }
}

static void an_overwritten_object_is_seen_whole_by_all(void **state)
{
    const struct store_fixture *fixture = *state;
    uint32_t read_count = fixture->backend->name_count * 5;
    struct lks_part part = {.size = 1000};
    uint8_t data[9000];
    struct lks_error error;
    struct crew crew;

    memset(data, 1, sizeof(data));
    part.data = data;
    assert_status(LKS_OK, lks_store_create(fixture->store, "whole", &part, 1,
                                           NULL, &error));
    crew_init(&crew, fixture);
    for (uint32_t i = 0; i < 3; i++)
        crew_start(&crew, i, overwrite);
    for (uint32_t i = 0; i < read_count; i++) {
        struct lks_call call = LKS_CALL_INIT;
        size_t size = 0;

        assert_status(LKS_OK,
                      lks_store_get(fixture->store, "whole", 0, data,
                                    sizeof(data), &size, &call, &error));
        assert_int_equal(size, call.object_size);
        assert_true(is_whole(data, size));
    }
    atomic_store(&crew.stop, true);
    crew_join(&crew);
}

/* Removes what others make, and the folder with it, all the time. */
static void remove_all(void *arg)
{
    struct worker *worker = arg;
    struct lks_error error;

    while (!atomic_load(&worker->crew->stop)) {
        const char *keys[] = {"f/g/0", "f/g/1", "f/g/2", "f/g/3"};
        enum lks_status status;

        status = lks_store_remove(worker->crew->store, keys, 4, NULL, &error);
        if (status != LKS_OK)
            report(worker, "remove", status, &error);
    }
}

static void write_again(void *arg)
{
    struct worker *worker = arg;
    struct lks_part part = {.data = "x", .size = 1};
    struct lks_error error;

    for (uint32_t i = 0; i < worker->crew->name_count; i++) {
        enum lks_status status;
        char key[16];

        snprintf(key, sizeof(key), "f/g/%u", worker->index);
        if (worker->index % 2 == 0)
            status = lks_store_create(worker->crew->store, key, &part, 1, NULL,
                                      &error);
        else
            status =
                lks_store_put(worker->crew->store, key, &part, 1, NULL, &error);
        if (status != LKS_OK && status != LKS_EXISTS)
            report(worker, key, status, &error);
    }
}

static void removing_does_not_get_into_the_way_of_writing(void **state)
{
    struct crew crew;

    crew_init(&crew, *state);
    for (uint32_t i = 0; i < 4; i++)
        crew_start(&crew, i, write_again);
    crew_start(&crew, 4, remove_all);
    crew_start(&crew, 5, remove_all);
    for (uint32_t i = 0; i < 4; i++) {
        lks_thread_join(lks_env_real(), crew.workers[i].thread);
        crew.workers[i].thread = NULL;
    }
    atomic_store(&crew.stop, true);
    crew_join(&crew);
}

const struct CMUnitTest store_suite_threads[] = {
    cmocka_unit_test(each_name_is_created_by_one_of_many_threads),
    cmocka_unit_test(what_exists_throughout_is_in_every_list),
    cmocka_unit_test(an_overwritten_object_is_seen_whole_by_all),
    cmocka_unit_test(removing_does_not_get_into_the_way_of_writing),
};

const size_t store_suite_thread_count =
    sizeof(store_suite_threads) / sizeof(store_suite_threads[0]);
