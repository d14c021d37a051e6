/*
 * A rank's part in a run: joining it, and saying how far it has checkpointed.
 */
#ifndef LKS_CONSUMER_RUN_H
#define LKS_CONSUMER_RUN_H

#include "base/options.h"
#include "format/lifecycle.h"
#include "manifest/log.h"

/* Belongs to one thread at a time. */
struct lks_member {
    struct lks_stream *stream;
    struct lks_log log;
    char group[LKS_PRODUCER_ID_SIZE_MAX + 1]; /* empty: of no group */
    char id[LKS_PRODUCER_ID_SIZE_MAX + 1];
    uint64_t attempt;
    bool follows;    /* joins whatever run is shown */
    bool only_marks; /* publishes a watermark, and replays nothing */
    uint32_t ranks;
    uint32_t rank; /* LKS_RANK_ALL: it speaks for all */
    bool for_all;  /* its watermarks count for all ranks */
    uint64_t step; /* it joined at; the run's floor is not above it */
    uint64_t mark; /* its watermark; 0: none */
};

/* Makes no request. `cancel` may be NULL. */
void lks_member_init(struct lks_member *member,
                     struct lks_stream *stream,
                     const struct lks_cancel *cancel);
void lks_member_done(struct lks_member *member);

/*
 * Whose rank it is, by the options group, run and watermark. Without a run the
 * launcher's environment names it; a job of one rank needs no name, since it
 * cannot disagree with itself. LKS_INVALID if several ranks have none.
 */
enum lks_status lks_member_choose(struct lks_member *member,
                                  const struct lks_options *options,
                                  uint32_t rank,
                                  uint32_t ranks,
                                  struct lks_error *error);

/* "ID.ATTEMPT", or "ID" alone for attempt 0, into id and attempt. */
enum lks_status lks_member_parse_run(struct lks_member *member,
                                     const char *text,
                                     struct lks_error *error);

/*
 * Joins the run at `step`, or makes it the group's if it is a newer one.
 * LKS_STEP_FIRST: at the first live step, or at the floor of the run that is
 * shown. LKS_FENCED names the run that took over; LKS_RECLAIMED the first live
 * step; LKS_INVALID below the rank's own watermark: that needs a new run.
 */
enum lks_status lks_member_join(struct lks_member *member,
                                uint64_t step,
                                uint64_t deadline_ns,
                                struct lks_error *error);

/* Publishes the watermark, if the newest manifest still shows the run as the
 * group's. It never moves back within a run, nor below what is live. */
enum lks_status lks_member_publish(struct lks_member *member,
                                   uint64_t step,
                                   struct lks_error *error);

#endif
