/*
 * A producer at the limit moves what is claimed, as a reclaim would.
 *
 * Without it a stream that nobody reclaims would stand still for ever, though
 * its trainers have long checkpointed. docs/protocol.md, "Limits".
 */
#include "producer/limit.h"

#include <inttypes.h>

#include "base/trace.h"
#include "manifest/claim.h"
#include "manifest/limit_text.h"

/* TGBs that may wait, uploaded, for the limit to move. */
#define ROOM_LEAST 1u

/* How long the commit may take before the producer goes on waiting. */
#define COMMIT_TIMEOUT_MS 10000u

/* The share of all requests: one in so many milliseconds, of all producers. */
#define REQUEST_MS 50u

/* Versions among whose committers are those who are active. */
#define ACTIVE_SPAN 1000u

/* `request_count` is what the last look took: a group of many ranks is looked
 * at more seldom. */
static void plan_next(struct lks_limit_watch *watch,
                      const struct lks_log *log,
                      uint64_t request_count)
{
    const struct lks_env *env = log->stream->env;
    uint32_t count = lks_manifest_active_count(log->head, ACTIVE_SPAN);
    double look_ms = (double)(request_count * REQUEST_MS);
    double mean_ms;

    if (look_ms < LKS_LIMIT_LOOK_MS)
        look_ms = LKS_LIMIT_LOOK_MS;
    mean_ms = look_ms * (count > 0 ? count : 1);

    watch->next_ns =
        lks_env_now_ns(env) + (uint64_t)((0.5 + lks_env_random_unit(env)) *
                                         mean_ms * (double)LKS_NS_PER_MS);
}

enum lks_status lks_limit_look(struct lks_limit_watch *watch,
                               struct lks_log *log,
                               struct lks_error *error)
{
    const struct lks_env *env = log->stream->env;
    struct lks_claims claims;
    struct lks_claim claim;
    enum lks_status status;

    if (watch->next_ns == 0)
        plan_next(watch, log, 0);
    if (lks_env_now_ns(env) < watch->next_ns)
        return LKS_OK;
    lks_claims_init(&claims, log->stream, log->cancel);
    status = lks_claims_read(&claims, log->head, error);
    if (status == LKS_OK) {
        lks_claims_find(&claims, log->head, &claim);
        if (claim.held && claim.claimed > lks_manifest_claimed(log->head))
            status =
                lks_claims_commit(&claims, log,
                                  lks_env_deadline_ms(env, COMMIT_TIMEOUT_MS),
                                  error);
    }
    plan_next(watch, log, claims.request_count);
    lks_claims_done(&claims);
    return status == LKS_TIMEOUT ? LKS_OK : status;
}

void lks_limit_held(struct lks_limit_watch *watch,
                    const struct lks_log *log,
                    const char *producer)
{
    const struct lks_manifest *head = log->head;
    uint64_t now_ns = lks_env_now_ns(log->stream->env);
    char limit[LKS_LIMIT_TEXT_SIZE];

    if (watch->since_ns == 0) {
        watch->since_ns = now_ns;
        watch->tell_ns = now_ns + LKS_LIMIT_TELL_MS * LKS_NS_PER_MS;
    }
    if (now_ns < watch->tell_ns)
        return;
    watch->tell_ns = now_ns + LKS_LIMIT_TELL_AGAIN_MS * LKS_NS_PER_MS;
    watch->told = true;
    lks_limit_text(lks_manifest_max_live_steps(head),
                   lks_manifest_max_live_bytes(head),
                   lks_manifest_next_step(head), lks_manifest_claimed(head),
                   limit);
    LKS_TRACE(LKS_AREA_LIMIT,
              "producer %s waits: %s is %s: raise the limit with 'lakestream "
              "limit', checkpoint, or reclaim",
              producer, log->stream->store->url, limit);
}

void lks_limit_passed(struct lks_limit_watch *watch,
                      const struct lks_log *log,
                      const char *producer)
{
    uint64_t now_ns = lks_env_now_ns(log->stream->env);

    if (watch->told)
        LKS_TRACE(LKS_AREA_LIMIT,
                  "producer %s goes on, having waited %" PRIu64 " s", producer,
                  (now_ns - watch->since_ns) / LKS_NS_PER_S);
    *watch = (struct lks_limit_watch){.next_ns = 0};
}

/* What is left of a limit; 0 once it is reached. */
static uint64_t left_of(uint64_t limit, uint64_t used)
{
    return used < limit ? limit - used : 0;
}

uint32_t lks_limit_room(const struct lks_manifest *head, uint32_t most)
{
    uint64_t steps_max = lks_manifest_max_live_steps(head);
    uint64_t bytes_max = lks_manifest_max_live_bytes(head);
    uint64_t next = lks_manifest_next_step(head);
    uint64_t live = next - lks_manifest_claimed(head);
    uint32_t count = lks_manifest_active_count(head, ACTIVE_SPAN);
    uint64_t room = most;

    if (steps_max > 0 && left_of(steps_max, live) < room)
        room = left_of(steps_max, live);
    /* As if each step were as large as the live ones are on average. */
    if (bytes_max > 0 && next > lks_manifest_first_live_step(head)) {
        uint64_t size = lks_manifest_live_bytes(head) /
                        (next - lks_manifest_first_live_step(head));
        uint64_t used = live * size;

        if (size > 0 && left_of(bytes_max, used) / size < room)
            room = left_of(bytes_max, used) / size;
    }
    if (room < most && count > 1)
        room /= count;
    return room < ROOM_LEAST ? ROOM_LEAST : (uint32_t)room;
}
