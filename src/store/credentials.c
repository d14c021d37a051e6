/*
 * A process's keys: one keychain per source, shared by all stores, and one
 * fetch at a time. Keys are renewed ahead of their end by whoever comes first,
 * while the others go on with the old ones.
 *
 * The registry is a global of this room, as the one of stores in memory is: a
 * training process opens many handles, and an endpoint that serves a whole
 * machine throttles quickly.
 */
#include "store/credentials.h"

#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/trace.h"
#include "store/credentials_fetch.h"
#include "store/retry.h"

/* Renewal begins so long ahead, or at half the lifetime if that is shorter. */
#define AHEAD_MS 300000
/* Refusals lead to other keys at most so often: a permission that is missing
 * can look like keys that are old. */
#define REFUSALS_APART_MS 30000
#define FETCH_TIMEOUT_MS 20000
#define PAUSE_MS 2000 /* after a renewal that failed, while old keys last */
#define LOOK_MS 50

struct lks_keychain {
    const struct lks_env *env;
    int64_t pid;
    struct lks_aws *aws;
    struct lks_http *http;
    struct lks_retry_budget *budget;
    struct lks_monitor *monitor;

    struct {
        struct lks_keys keys;
        bool have;
        uint64_t refused_ns; /* when keys were last given up; 0: never */
        uint64_t renew_ns;   /* LKS_FOREVER: never */
        uint64_t end_ns;
        int64_t lifetime_ms;
        bool fetching;
        uint64_t round;         /* fetches that ended */
        enum lks_status status; /* of the last one */
        struct lks_error error;
    } locked;

    /* The registry's, under its mutex. */
    struct lks_keychain *next;
    size_t holder_count;
};

static struct {
    pthread_mutex_t mutex;
    struct lks_keychain *first;
} registry = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void keychain_free(struct lks_keychain *keychain)
{
    if (keychain == NULL)
        return;
    lks_http_free(keychain->http);
    lks_retry_budget_free(keychain->budget);
    lks_monitor_free(keychain->env, keychain->monitor);
    lks_aws_free(keychain->aws);
    explicit_bzero(&keychain->locked, sizeof(keychain->locked));
    lks_free(keychain);
}

static enum lks_status keychain_new(const struct lks_env *env,
                                    const struct lks_aws *aws,
                                    struct lks_keychain **out_keychain,
                                    struct lks_error *error)
{
    static const struct lks_http_limits limits = {
        .connect_timeout_ms = 1000,
        .first_byte_timeout_ms = 5000,
        .stall_timeout_ms = 5000,
        .total_timeout_ms = 10000,
    };
    struct lks_http_limits own = limits;
    struct lks_keychain *keychain = lks_alloc_zero(1, sizeof(*keychain));
    enum lks_status status;

    if (keychain == NULL)
        return lks_error_no_memory(error);
    keychain->env = env;
    keychain->pid = lks_env_pid(env);
    keychain->aws = lks_memory_dup(aws, sizeof(*aws));
    if (keychain->aws == NULL) {
        status = lks_error_no_memory(error);
        goto done;
    }
    own.ca_bundle = aws->ca_bundle;
    /* Addresses of this machine are not behind its proxy. */
    own.no_proxy = aws->source != LKS_KEYS_OF_WEB_IDENTITY;
    status = lks_http_new(env, &own, &keychain->http, error);
    if (status == LKS_OK)
        status = lks_retry_budget_new(env, &keychain->budget, error);
    if (status == LKS_OK)
        status = lks_monitor_new(env, &keychain->monitor, error);
    if (status == LKS_OK)
        *out_keychain = keychain;

done:
    if (status != LKS_OK)
        keychain_free(keychain);
    return status;
}

enum lks_status lks_keychain_acquire(const struct lks_env *env,
                                     const struct lks_aws *aws,
                                     struct lks_keychain **out_keychain,
                                     struct lks_error *error)
{
    struct lks_keychain *fresh = NULL;
    struct lks_keychain *found;
    enum lks_status status = keychain_new(env, aws, &fresh, error);

    if (status != LKS_OK)
        return status;
    pthread_mutex_lock(&registry.mutex);
    for (found = registry.first; found != NULL; found = found->next) {
        /* Both are zeroed before they are filled, so bytes compare. */
        if (found->pid == fresh->pid && found->env == env &&
            memcmp(found->aws, aws, sizeof(*aws)) == 0)
            break;
    }
    if (found == NULL) {
        found = fresh;
        fresh = NULL;
        found->next = registry.first;
        registry.first = found;
    }
    found->holder_count++;
    pthread_mutex_unlock(&registry.mutex);
    keychain_free(fresh);
    *out_keychain = found;
    return LKS_OK;
}

void lks_keychain_release(struct lks_keychain *keychain)
{
    struct lks_keychain **link = &registry.first;
    bool last;

    if (keychain == NULL)
        return;
    pthread_mutex_lock(&registry.mutex);
    last = --keychain->holder_count == 0;
    while (last && *link != keychain)
        link = &(*link)->next;
    if (last)
        *link = keychain->next;
    pthread_mutex_unlock(&registry.mutex);
    if (last)
        keychain_free(keychain);
}

/* Tries until it has keys, or is refused, or its time is over. */
static enum lks_status fetch(struct lks_keychain *keychain,
                             const struct lks_cancel *cancel,
                             struct lks_keys *keys,
                             int64_t *lifetime_ms,
                             struct lks_error *error)
{
    struct lks_retry retry;
    enum lks_status status;

    lks_retry_begin(&retry, keychain->budget, FETCH_TIMEOUT_MS);
    do {
        status = lks_keys_fetch(keychain->env, keychain->aws, keychain->http,
                                cancel, keys, lifetime_ms, error);
    } while (status == LKS_UNAVAILABLE &&
             lks_retry_wait(&retry, true, 0, cancel));
    LKS_TRACE(LKS_AREA_STORE,
              "keys fetched: %s, %" PRIu32 " tries, for %" PRId64 " ms",
              lks_status_name(status), retry.try_count,
              status == LKS_OK ? *lifetime_ms : 0);
    return status;
}

static void note_keys_locked(struct lks_keychain *keychain,
                             const struct lks_keys *keys,
                             int64_t lifetime_ms)
{
    int64_t ahead_ms = lifetime_ms / 2 < AHEAD_MS ? lifetime_ms / 2 : AHEAD_MS;

    keychain->locked.keys = *keys;
    keychain->locked.have = true;
    keychain->locked.lifetime_ms = lifetime_ms;
    keychain->locked.renew_ns = LKS_FOREVER;
    keychain->locked.end_ns = LKS_FOREVER;
    if (lifetime_ms == LKS_KEYS_FOR_EVER)
        return;
    if (lifetime_ms < 0) {
        lifetime_ms = 0;
        ahead_ms = 0;
    }
    keychain->locked.end_ns =
        lks_env_deadline_ms(keychain->env, (uint64_t)lifetime_ms);
    keychain->locked.renew_ns =
        lks_env_deadline_ms(keychain->env, (uint64_t)(lifetime_ms - ahead_ms));
}

/* Whether the keys there are will do; sets `*out_renew` if it is time. */
static bool are_valid_locked(struct lks_keychain *keychain, bool *out_renew)
{
    uint64_t now_ns = lks_env_now_ns(keychain->env);

    *out_renew = !keychain->locked.have || now_ns >= keychain->locked.renew_ns;
    return keychain->locked.have && now_ns < keychain->locked.end_ns;
}

/* The monitor is entered, and left while the fetch runs. */
static void renew_locked(struct lks_keychain *keychain,
                         const struct lks_cancel *cancel)
{
    struct lks_error error = {.status = LKS_OK};
    struct lks_keys keys;
    int64_t lifetime_ms = 0;
    enum lks_status status;

    keychain->locked.fetching = true;
    lks_monitor_leave(keychain->env, keychain->monitor);
    status = fetch(keychain, cancel, &keys, &lifetime_ms, &error);
    lks_monitor_enter(keychain->env, keychain->monitor);
    keychain->locked.fetching = false;
    keychain->locked.round++;
    keychain->locked.status = status;
    keychain->locked.error = error;
    if (status == LKS_OK)
        note_keys_locked(keychain, &keys, lifetime_ms);
    else if (keychain->locked.have)
        keychain->locked.renew_ns =
            lks_env_deadline_ms(keychain->env, PAUSE_MS);
    lks_monitor_wake(keychain->env, keychain->monitor);
    explicit_bzero(&keys, sizeof(keys));
}

enum lks_status lks_keychain_get(struct lks_keychain *keychain,
                                 const struct lks_cancel *cancel,
                                 struct lks_keys *out_keys,
                                 struct lks_error *error)
{
    enum lks_status status = LKS_OK;
    uint64_t round;

    lks_monitor_enter(keychain->env, keychain->monitor);
    round = keychain->locked.round;
    for (;;) {
        bool renew;
        bool valid = are_valid_locked(keychain, &renew);

        if (valid && (!renew || keychain->locked.fetching))
            break;
        if (!keychain->locked.fetching && round == keychain->locked.round) {
            renew_locked(keychain, cancel);
            if (keychain->locked.status == LKS_OK)
                break; /* They are used, however short they live. */
            continue;
        }
        /* A fetch that ended while this call waited speaks for it too. */
        if (round != keychain->locked.round) {
            status = keychain->locked.status;
            if (status == LKS_CANCELLED && !lks_cancelled(cancel)) {
                round = keychain->locked.round;
                continue; /* The other's wish. */
            }
            if (valid)
                status = LKS_OK;
            if (status != LKS_OK)
                lks_error_set(error, status, "%s",
                              keychain->locked.error.message);
            break;
        }
        if (lks_cancelled(cancel)) {
            status = lks_error_set(error, LKS_CANCELLED, "cancelled");
            break;
        }
        lks_monitor_wait(keychain->env, keychain->monitor,
                         lks_env_deadline_ms(keychain->env, LOOK_MS));
    }
    if (status == LKS_OK)
        *out_keys = keychain->locked.keys;
    lks_monitor_leave(keychain->env, keychain->monitor);
    return status;
}

/* Whether giving the keys up is worth it, by when that was done last. */
static bool may_give_up_locked(const struct lks_keychain *keychain)
{
    uint64_t now_ns = lks_env_now_ns(keychain->env);
    int64_t apart_ms = keychain->locked.lifetime_ms / 4;

    if (apart_ms > REFUSALS_APART_MS)
        apart_ms = REFUSALS_APART_MS;
    if (apart_ms < 0)
        apart_ms = 0;
    return keychain->locked.refused_ns == 0 ||
           now_ns >=
               keychain->locked.refused_ns + (uint64_t)apart_ms * LKS_NS_PER_MS;
}

bool lks_keychain_refused(struct lks_keychain *keychain,
                          const struct lks_keys *refused)
{
    bool others;

    if (keychain->aws->source == LKS_KEYS_OF_ENVIRONMENT)
        return false;
    lks_monitor_enter(keychain->env, keychain->monitor);
    others = !keychain->locked.have ||
             memcmp(&keychain->locked.keys, refused, sizeof(*refused)) != 0;
    if (!others && may_give_up_locked(keychain)) {
        keychain->locked.have = false;
        keychain->locked.refused_ns = lks_env_now_ns(keychain->env);
        others = true;
    }
    lks_monitor_leave(keychain->env, keychain->monitor);
    return others;
}
