/*
 * The probe's race: several threads create one name at the same moment, some
 * times over. A store that checks first and writes then lets two of them win.
 */
#include "store/probe.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define ROUNDS 4u
#define RACERS 8u

struct race;

struct racer {
    struct race *race;
    struct lks_thread *thread;
    char text[16];
    enum lks_status status;
    struct lks_error error;
};

struct race {
    struct lks_probe *probe;
    const char *key;
    struct racer racers[RACERS];
    struct lks_monitor *gate;
    struct {
        bool is_open;
    } locked;
};

static void run_racer(void *arg)
{
    struct racer *racer = arg;
    struct race *race = racer->race;
    struct lks_store *store = race->probe->store;
    struct lks_part part = {.data = racer->text, .size = strlen(racer->text)};

    lks_monitor_enter(store->env, race->gate);
    while (!race->locked.is_open)
        lks_monitor_wait(store->env, race->gate, LKS_FOREVER);
    lks_monitor_leave(store->env, race->gate);
    racer->status =
        lks_store_create(store, race->key, &part, 1, NULL, &racer->error);
}

/* Starts all, opens the gate, waits for all. */
static enum lks_status run_all(struct race *race, struct lks_error *error)
{
    const struct lks_env *env = race->probe->store->env;
    enum lks_status status = LKS_OK;

    race->locked.is_open = false;
    for (uint32_t i = 0; i < RACERS; i++) {
        struct racer *racer = &race->racers[i];

        memset(racer, 0, sizeof(*racer));
        racer->race = race;
        snprintf(racer->text, sizeof(racer->text), "racer %u", i);
    }
    for (uint32_t i = 0; i < RACERS && status == LKS_OK; i++)
        status = lks_thread_start(env, "probe", run_racer, &race->racers[i],
                                  &race->racers[i].thread, error);
    lks_monitor_enter(env, race->gate);
    race->locked.is_open = true;
    lks_monitor_wake(env, race->gate);
    lks_monitor_leave(env, race->gate);
    for (uint32_t i = 0; i < RACERS; i++)
        lks_thread_join(env, race->racers[i].thread);
    return status;
}

/* The one who may have made the object: the winner, or one who is unsure. */
static enum lks_status check_object(struct race *race,
                                    const struct racer *winner,
                                    struct lks_error *error)
{
    enum lks_status status;

    if (winner != NULL)
        return lks_probe_expect(race->probe, race->key, winner->text, error);

    /* It may not be there; if it is, it is of one who was unsure. */
    status = lks_store_stat(race->probe->store, race->key, NULL, error);
    if (status != LKS_OK)
        return status == LKS_NOT_FOUND ? LKS_OK : status;
    status = LKS_UNSUPPORTED;
    for (uint32_t i = 0; i < RACERS && status == LKS_UNSUPPORTED; i++) {
        if (race->racers[i].status == LKS_UNSURE)
            status = lks_probe_expect(race->probe, race->key,
                                      race->racers[i].text, error);
    }
    return status;
}

static enum lks_status judge(struct race *race, struct lks_error *error)
{
    const struct racer *winner = NULL;
    uint32_t winner_count = 0;
    uint32_t unsure_count = 0;

    for (uint32_t i = 0; i < RACERS; i++) {
        const struct racer *racer = &race->racers[i];

        if (racer->status == LKS_OK) {
            winner = racer;
            winner_count++;
        } else if (racer->status == LKS_UNSURE) {
            unsure_count++;
        } else if (racer->status != LKS_EXISTS) {
            return lks_error_set(error, racer->status, "%s",
                                 racer->error.message);
        }
    }
    if (winner_count > 1)
        return lks_error_set(error, LKS_UNSUPPORTED,
                             "%u of %u that created one name at the same time "
                             "were told that they did",
                             winner_count, RACERS);
    if (winner_count + unsure_count == 0)
        return lks_error_set(error, LKS_UNSUPPORTED,
                             "none of %u that created one name at the same "
                             "time was told that it did",
                             RACERS);
    return check_object(race, winner, error);
}

enum lks_status lks_probe_race(struct lks_probe *probe, struct lks_error *error)
{
    struct race race = {.probe = probe};
    enum lks_status status;

    status = lks_monitor_new(probe->store->env, &race.gate, error);
    for (uint32_t i = 0; i < ROUNDS && status == LKS_OK; i++) {
        char name[16];

        snprintf(name, sizeof(name), "race/%u", i);
        race.key = lks_probe_key(probe, name);
        status = run_all(&race, error);
        if (status == LKS_OK)
            status = judge(&race, error);
    }
    lks_monitor_free(probe->store->env, race.gate);
    if (status == LKS_OK)
        lks_probe_note(probe, "%u rounds of %u creators had one winner each",
                       ROUNDS, RACERS);
    return status;
}
