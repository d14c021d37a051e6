/* Many readers of one object, each with a store of its own as a process would
 * have: readers_s3 READERS SECONDS PAUSE_MS URL. Prints a line per half second:
 * reads that succeeded, and reads that failed. Run by test_readers.py. */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/bytes.h"
#include "store/store.h"

#define READERS_MAX 1024
#define OBJECT_SIZE 4096
#define TICK_NS (LKS_NS_PER_S / 2)

struct crew {
    const char *url;
    uint64_t pause_ns;
    struct lks_cancel cancel;
    _Atomic uint64_t good;
    _Atomic uint64_t bad;
};

static void read_on(void *arg)
{
    const struct lks_env *env = lks_env_real();
    struct crew *crew = arg;
    struct lks_store *store = NULL;
    struct lks_error error;

    if (lks_store_connect(crew->url, env, NULL, &store, &error) != LKS_OK) {
        fprintf(stderr, "%s\n", error.message);
        return;
    }
    while (!lks_cancelled(&crew->cancel)) {
        struct lks_call call = LKS_CALL_INIT;
        char data[OBJECT_SIZE];
        enum lks_status status;

        call.cancel = &crew->cancel;
        status = lks_store_get_exact(store, "object", 0, data, sizeof(data),
                                     &call, &error);
        if (status == LKS_OK)
            atomic_fetch_add(&crew->good, 1);
        else if (status != LKS_CANCELLED)
            atomic_fetch_add(&crew->bad, 1);
        lks_env_sleep_unless(env,
                             (uint64_t)(2 * lks_env_random_unit(env) *
                                        (double)crew->pause_ns),
                             &crew->cancel);
    }
    lks_store_close(store);
}

static int put_object(const char *url)
{
    static const char data[OBJECT_SIZE];
    struct lks_part part = {data, sizeof(data)};
    struct lks_store *store;
    struct lks_error error;
    enum lks_status status;

    status = lks_store_connect(url, lks_env_real(), NULL, &store, &error);
    if (status == LKS_OK) {
        status = lks_store_put(store, "object", &part, 1, NULL, &error);
        lks_store_close(store);
    }
    if (status != LKS_OK)
        fprintf(stderr, "%s\n", error.message);
    return status == LKS_OK ? 0 : 1;
}

int main(int count, char **words)
{
    static struct lks_thread *threads[READERS_MAX];
    const struct lks_env *env = lks_env_real();
    struct crew crew = {.url = words[4]};
    uint64_t reader_count;
    uint64_t seconds;
    uint64_t pause_ms;

    if (count != 5 || !lks_parse_u64(words[1], &reader_count) ||
        !lks_parse_u64(words[2], &seconds) ||
        !lks_parse_u64(words[3], &pause_ms) || reader_count > READERS_MAX ||
        put_object(words[4]) != 0)
        return 2;
    crew.pause_ns = pause_ms * LKS_NS_PER_MS;
    lks_cancel_init(&crew.cancel);
    for (uint64_t i = 0; i < reader_count; i++)
        lks_thread_start(env, "reader", read_on, &crew, &threads[i], NULL);
    for (uint64_t i = 0; i < 2 * seconds; i++) {
        lks_env_sleep_ns(env, TICK_NS);
        printf("%" PRIu64 " %" PRIu64 "\n", atomic_exchange(&crew.good, 0),
               atomic_exchange(&crew.bad, 0));
    }
    lks_cancel_set(&crew.cancel);
    for (uint64_t i = 0; i < reader_count; i++)
        lks_thread_join(env, threads[i]);
    return 0;
}
