/*
 * A store that does not answer: somebody who waits in front of it is told once,
 * and a place that cannot be right is given up early.
 */
#include "base/trace.h"
#include "store/s3_client.h"

/* What is slow is not told of; what is down, before one wonders. */
#define TELL_AFTER_NS (3 * LKS_NS_PER_S)

/* Long enough for a host whose network comes up after its programs. */
#define ASTRAY_AFTER_NS (5 * LKS_NS_PER_S)

static bool has_failed(const struct lks_s3_answer *answer)
{
    return answer->meaning.status == LKS_UNAVAILABLE ||
           answer->meaning.status == LKS_UNSURE;
}

void lks_s3_watch(struct lks_s3 *s3,
                  uint64_t began_ns,
                  struct lks_s3_answer *answer)
{
    const struct lks_env *env = s3->store.env;
    uint64_t now_ns = lks_env_now_ns(env);
    struct lks_error last;
    bool tell = false;

    lks_monitor_enter(env, s3->monitor);
    s3->locked.reached |= answer->reply.http != 0;
    if (!has_failed(answer)) {
        s3->locked.down = false;
    } else if (!s3->locked.down) {
        s3->locked.down = true;
        s3->locked.told = false;
        s3->locked.down_since_ns = began_ns;
    }
    if (s3->locked.down) {
        uint64_t down_ns = now_ns - s3->locked.down_since_ns;

        tell = !s3->locked.told && down_ns >= TELL_AFTER_NS;
        s3->locked.told |= tell;
        if (answer->reply.astray && !s3->locked.reached &&
            down_ns >= ASTRAY_AFTER_NS)
            answer->meaning.cure = LKS_S3_FINAL;
    }
    lks_monitor_leave(env, s3->monitor);
    if (!tell || answer->meaning.cure != LKS_S3_AGAIN)
        return;
    lks_s3_explain(answer, answer->meaning.status, &last);
    LKS_TRACE(LKS_AREA_OUTAGE, "still trying %s: %s", s3->store.url,
              last.message);
}
