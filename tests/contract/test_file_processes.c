/* The store in a folder, used by several processes, some of which are killed.
 * Each opens it for itself, after the fork. */
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "store/file_store.h"
#include "support/store_suite.h"

#define NAMES 200u
#define PROCESSES 4u
#define KILLS 8u
#define UNIT 4096u

struct shared {
    atomic_uint ready_count;
    atomic_uint win_counts[NAMES];
    atomic_uint failure_count;
    atomic_bool stop;
};

struct world {
    char place[STORE_PLACE_SIZE];
    struct shared *shared;
    bool make_do;
    pid_t children[PROCESSES];
};

static int set_up(void **state)
{
    struct world *world = calloc(1, sizeof(*world));

    world->make_do = *state != NULL;
    store_place_make(world->place);
    world->shared = mmap(NULL, sizeof(*world->shared), PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(world->shared != MAP_FAILED);
    *state = world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;

    munmap(world->shared, sizeof(*world->shared));
    store_place_remove(world->place);
    free(world);
    return 0;
}

static struct lks_store *open_store(const struct world *world)
{
    struct lks_store *store = NULL;

    if (lks_store_file_open(world->place, lks_env_real(), false, &store,
                            NULL) != LKS_OK)
        _exit(2);
    if (world->make_do)
        lks_store_file_make_do(store);
    return store;
}

typedef void child_fn(const struct world *world, uint32_t index);

static void start(struct world *world, uint32_t index, child_fn *run)
{
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a failed test leaves nobody */
        run(world, index);
        _exit(0);
    }
    world->children[index] = child;
}

static int join(struct world *world, uint32_t index)
{
    int result = -1;

    assert_true(waitpid(world->children[index], &result, 0) > 0);
    return result;
}

static void nap(long us)
{
    struct timespec time = {.tv_nsec = us * 1000};

    nanosleep(&time, NULL);
}

static void create_all(const struct world *world, uint32_t index)
{
    struct lks_store *store = open_store(world);
    struct lks_part part = {.data = &index, .size = sizeof(index)};

    atomic_fetch_add(&world->shared->ready_count, 1);
    while (atomic_load(&world->shared->ready_count) < PROCESSES)
        continue;
    for (uint32_t i = 0; i < NAMES; i++) {
        enum lks_status status;
        char key[32];

        snprintf(key, sizeof(key), "race/%u/%u", i / 16, i);
        status = lks_store_create(store, key, &part, 1, NULL, NULL);
        if (status == LKS_OK)
            atomic_fetch_add(&world->shared->win_counts[i], 1 + (index << 8));
        else if (status != LKS_EXISTS)
            atomic_fetch_add(&world->shared->failure_count, 1);
    }
    lks_store_close(store);
}

static void each_name_is_created_by_one_of_many_processes(void **state)
{
    struct world *world = *state;
    struct lks_store *store;
    struct lks_error error;

    for (uint32_t i = 0; i < PROCESSES; i++)
        start(world, i, create_all);
    for (uint32_t i = 0; i < PROCESSES; i++)
        assert_int_equal(join(world, i), 0);
    assert_int_equal(atomic_load(&world->shared->failure_count), 0);

    store = open_store(world);
    for (uint32_t i = 0; i < NAMES; i++) {
        uint32_t found = UINT32_MAX;
        char key[32];

        snprintf(key, sizeof(key), "race/%u/%u", i / 16, i);
        assert_status(LKS_OK, lks_store_get_exact(store, key, 0, &found,
                                                  sizeof(found), NULL, &error));
        assert_int_equal(atomic_load(&world->shared->win_counts[i]),
                         1 + (found << 8));
    }
    lks_store_close(store);
}

/* Objects of many sizes; each byte is the number of units of its object. */
static void write_until_killed(const struct world *world, uint32_t index)
{
    static uint8_t data[64 * UNIT];
    struct lks_store *store = open_store(world);

    for (uint32_t i = 0;; i++) {
        uint32_t units = 1 + (i * 31 + index) % 64;
        struct lks_part parts[2] = {{data, UNIT}, {data, (units - 1) * UNIT}};
        char key[64];

        memset(data, (int)units, units * UNIT);
        snprintf(key, sizeof(key), "made/%d/%u", (int)getpid(), i % 200);
        lks_store_create(store, key, parts, 2, NULL, NULL);
        lks_store_put(store, "over/written", parts, 2, NULL, NULL);
        atomic_fetch_add(&world->shared->ready_count, 1);
    }
}

static uint32_t expect_whole_objects(struct lks_store *store)
{
    static struct lks_listed listed[LKS_LIST_MAX];
    static uint8_t data[64 * UNIT];
    char after[LKS_KEY_SIZE_MAX + 1] = "";
    struct lks_error error;
    uint32_t seen = 0;
    size_t count;

    do {
        assert_status(LKS_OK, lks_store_list(store, "", after, LKS_LIST_MAX,
                                             listed, &count, NULL, &error));
        for (size_t i = 0; i < count; i++) {
            size_t size = (size_t)listed[i].size;

            assert_true(strncmp(listed[i].key, "made/", 5) == 0 ||
                        strcmp(listed[i].key, "over/written") == 0);
            assert_true(size >= UNIT && size <= sizeof(data));
            assert_status(LKS_OK,
                          lks_store_get_exact(store, listed[i].key, 0, data,
                                              size, NULL, &error));
            assert_int_equal(data[0], size / UNIT);
            assert_memory_equal(data, data + 1, size - 1);
            memcpy(after, listed[i].key, sizeof(after));
            seen++;
        }
    } while (count == LKS_LIST_MAX);
    return seen;
}

static void killed_writers_leave_whole_objects_or_none(void **state)
{
    struct world *world = *state;
    struct lks_store *store;
    uint32_t seen;

    for (uint32_t round = 0; round < KILLS; round++) {
        atomic_store(&world->shared->ready_count, 0);
        for (uint32_t i = 0; i < 2; i++)
            start(world, i, write_until_killed);
        while (atomic_load(&world->shared->ready_count) < 4)
            nap(50);
        nap((round * 7919) % 3000);
        for (uint32_t i = 0; i < 2; i++) {
            kill(world->children[i], SIGKILL);
            assert_true(WIFSIGNALED(join(world, i)));
        }
    }

    store = open_store(world);
    seen = expect_whole_objects(store);
    assert_true(seen > KILLS);
    suite_create(store, "made/after", "works");
    suite_put(store, "over/written", "works");
    suite_expect(store, "over/written", "works");
    lks_store_close(store);
}

/* What a killed one may leave is where nobody looks, and goes in time. */
static void what_killed_writers_leave_is_no_object(void **state)
{
    struct world *world = *state;
    static struct lks_listed listed[LKS_LIST_MAX];
    char path[STORE_PLACE_SIZE + 64];
    struct lks_store *store;
    struct lks_error error;
    size_t count;

    killed_writers_leave_whole_objects_or_none(state);
    store = open_store(world);
    assert_status(LKS_OK, lks_store_list(store, "", "", LKS_LIST_MAX, listed,
                                         &count, NULL, &error));
    snprintf(path, sizeof(path), "%s/.tmp", world->place);
    if (count < LKS_LIST_MAX)
        assert_int_equal(store_place_file_count(world->place),
                         count + store_place_file_count(path));
    assert_true(store_place_file_count(path) <= 2 * KILLS);
    lks_store_close(store);
}

static void remove_all(const struct world *world, uint32_t index)
{
    const char *keys[] = {"f/0", "f/1", "f/2", "f/3"};
    struct lks_store *store = open_store(world);

    (void)index;
    while (!atomic_load(&world->shared->stop)) {
        if (lks_store_remove(store, keys, 4, NULL, NULL) != LKS_OK)
            atomic_fetch_add(&world->shared->failure_count, 1);
    }
    lks_store_close(store);
}

static void write_again(const struct world *world, uint32_t index)
{
    struct lks_part part = {.data = "x", .size = 1};
    struct lks_store *store = open_store(world);

    for (uint32_t i = 0; i < NAMES; i++) {
        enum lks_status status;
        char key[16];

        snprintf(key, sizeof(key), "f/%u", index);
        status = index == 0 ? lks_store_create(store, key, &part, 1, NULL, NULL)
                            : lks_store_put(store, key, &part, 1, NULL, NULL);
        if (status != LKS_OK && status != LKS_EXISTS)
            atomic_fetch_add(&world->shared->failure_count, 1);
    }
    lks_store_close(store);
}

static void removing_processes_are_not_in_the_way_of_writing_ones(void **state)
{
    struct world *world = *state;

    start(world, 0, write_again);
    start(world, 1, write_again);
    start(world, 2, remove_all);
    start(world, 3, remove_all);
    assert_int_equal(join(world, 0), 0);
    assert_int_equal(join(world, 1), 0);
    atomic_store(&world->shared->stop, true);
    assert_int_equal(join(world, 2), 0);
    assert_int_equal(join(world, 3), 0);
    assert_int_equal(atomic_load(&world->shared->failure_count), 0);
}

int main(void)
{
    static int make_do;
    const struct CMUnitTest tests[] = {
#define BOTH(test)                                                             \
    {#test, test, set_up, tear_down, NULL},                                    \
        {"by_name: " #test, test, set_up, tear_down, &make_do}
        BOTH(each_name_is_created_by_one_of_many_processes),
        BOTH(what_killed_writers_leave_is_no_object),
        BOTH(removing_processes_are_not_in_the_way_of_writing_ones),
    };

    return cmocka_run_group_tests_name("file, processes", tests, NULL, NULL);
}
