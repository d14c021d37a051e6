/*
 * The message of a wait in vain. It must tell its reader whose fault it is: the
 * store's, the producers', or that of a limit which waits for a checkpoint.
 */
#include "consumer/starve.h"

#include <inttypes.h>
#include <stdio.h>

#include "manifest/limit_text.h"

#define PART_SIZE 160u

static double seconds(uint64_t duration_ns)
{
    return (double)duration_ns / (double)LKS_NS_PER_S;
}

static void name_steps(uint64_t step, uint32_t group, char text[PART_SIZE])
{
    if (group == 1)
        snprintf(text, PART_SIZE, "step %" PRIu64, step);
    else
        snprintf(text, PART_SIZE, "steps %" PRIu64 " to %" PRIu64, step,
                 step + group - 1);
}

/* Whether the step is there, and only its bytes are not. */
static bool can_be_seen(const struct lks_wait_report *report,
                        uint64_t step,
                        uint32_t group)
{
    uint64_t next_step = report->sighting.next_step;

    return report->fetching ||
           (next_step >= group && next_step - group >= step);
}

/* Empty unless appends wait for a checkpoint. */
static void name_limit(const struct lks_sighting *sighting,
                       char text[PART_SIZE])
{
    char limit[LKS_LIMIT_TEXT_SIZE];

    text[0] = '\0';
    if (!sighting->full)
        return;
    lks_limit_text(sighting->max_live_steps, sighting->max_live_bytes,
                   sighting->next_step, sighting->claimed, limit);
    snprintf(text, PART_SIZE,
             "; it is %s: raise the limit or checkpoint sooner", limit);
}

enum lks_status lks_starve_explain(const struct lks_wait_report *report,
                                   const char *url,
                                   uint64_t step,
                                   uint32_t group,
                                   struct lks_error *error)
{
    const struct lks_sighting *sighting = &report->sighting;
    char steps[PART_SIZE];
    char limit[PART_SIZE];

    name_steps(step, group, steps);
    if (report->trouble.status != LKS_OK)
        return lks_error_set(error, LKS_UNAVAILABLE, "waited %.1f s for %s: %s",
                             seconds(report->waited_ns), steps,
                             report->trouble.message);
    if (can_be_seen(report, step, group))
        return lks_error_set(error, LKS_TIMEOUT,
                             "waited %.1f s for %s of %.160s, which is there "
                             "(version %" PRIu64 ", next step %" PRIu64
                             ") but is still being read",
                             seconds(report->waited_ns), steps, url,
                             sighting->version, sighting->next_step);
    name_limit(sighting, limit);
    return lks_error_set(
        error, LKS_TIMEOUT,
        "waited %.1f s for %s of %.160s: the newest manifest is "
        "version %" PRIu64 ", next step %" PRIu64
        ", for %.1f s, last looked at %.1f s ago%s",
        seconds(report->waited_ns), steps, url, sighting->version,
        sighting->next_step, seconds(report->now_ns - sighting->changed_ns),
        seconds(report->now_ns - sighting->looked_ns), limit);
}
