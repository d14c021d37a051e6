/*
 * Pacing: when a producer looks at the manifest, and when it tries to add one.
 *
 * Pure: it is told what was seen and done, and answers with one step. It never
 * meets a clock, a store or a stream, so that bench/pacing runs the very same
 * code in virtual time. All producers pace themselves, without a message: the
 * manifest is all they share.
 *
 *     for (;;) {
 *         lks_pacing_next(&pacing, now_ns, random_unit, &step);
 *         wait step.wait_ns, then look or try;
 *         lks_pacing_saw() after a look, lks_pacing_tried() after a try,
 *         lks_pacing_settled() once a manifest told what became of a try
 *     }
 *
 * docs/benchmarks/pacing.md compares the policies and argues the default.
 */
#ifndef LKS_PRODUCER_PACING_H
#define LKS_PRODUCER_PACING_H

#include "producer/pacing_ring.h"

/* In the order of the option's choices. */
enum lks_pacing_kind {
    LKS_PACING_TURNS,
    LKS_PACING_DAC,
    LKS_PACING_FIXED,
    LKS_PACING_AIMD,
    LKS_PACING_INCR,
};

struct lks_pacing_options {
    enum lks_pacing_kind kind;
    uint64_t gap_ns;        /* of FIXED; where AIMD and INCR begin */
    uint64_t freshness_ns;  /* DAC's gap is not longer, if that can be */
    double overhead_budget; /* share of its time a producer may commit */
    double conflict_budget; /* share of its tries that DAC may lose */
};

/* How a try ended, as the manifest told. */
enum lks_outcome {
    LKS_OUTCOME_WON,
    LKS_OUTCOME_LOST,      /* somebody else made that version */
    LKS_OUTCOME_THROTTLED, /* not made, and the store wants less load */
    LKS_OUTCOME_OPEN,      /* not made yet: it may still land */
};

/* What a manifest says to one who wants to commit. */
struct lks_pacing_view {
    uint64_t version;
    uint32_t active; /* N: producers that have committed of late */
    struct lks_turn turn;
};

/* A look at the version `stride` above the one known, and what it found. */
struct lks_pacing_look {
    uint64_t sent_ns;
    uint64_t replied_ns;
    uint64_t stride;
    bool advanced; /* there it was */
    bool newest;   /* a listing told: the view is of the newest */
};

enum lks_act {
    LKS_ACT_LOOK,
    LKS_ACT_TRY, /* to create the version after the one known */
};

struct lks_step {
    enum lks_act act;
    uint64_t wait_ns; /* before it */
    uint64_t stride;  /* of a look */
};

struct lks_pacing_policy;

/* What is said of times here is this producer's own experience. */
struct lks_pacing {
    struct lks_pacing_options options;
    const struct lks_pacing_policy *policy;

    /* Estimates; 0 until something was measured. */
    double get_ns;
    double put_ns;
    double version_ns;    /* from one version to the next: 1/lambda */
    double conflict_rate; /* c */

    /* The newest version known, and what is known of its time. */
    struct lks_pacing_view view;
    bool has_view;
    bool newest;        /* the last look said so, and nothing came since */
    uint64_t landed_ns; /* when it came to be: a guess */
    uint64_t seen_ns;   /* the same, not before it did */
    uint64_t anchor;    /* the last one whose landing is known well */
    uint64_t absent;    /* the lowest version that was missing... */
    uint64_t absent_ns; /* ...at this time */
    uint64_t stride;    /* of the last look */
    uint32_t hits;      /* looks in a row that found something */
    uint32_t misses;    /* that found nothing */
    uint64_t mark;      /* a version from which version_ns is measured... */
    uint64_t mark_ns;   /* ...and when it was seen */

    /* Of the own tries. */
    bool tried; /* and not settled */
    bool has_won;
    uint64_t won_ns; /* when the last commit landed, about */
    uint64_t won_version;
    bool alone;      /* and the version before it was its own, too */
    uint64_t gap_ns; /* mean, from one commit to the next try */
    uint64_t next_try_ns;
    uint64_t hold_ns;  /* nothing before this, whatever the policy says */
    uint32_t losses;   /* in a row */
    bool hurried;      /* somebody waits for the commit */
    double gap_factor; /* DAC's correction */

    /* Of turns. */
    uint64_t slept_on;   /* the version known at the last sleep without a look
                          * for the newest */
    uint64_t drawn;      /* the version for which a guest has drawn its lot */
    double chance;       /* that it goes; other guests may be there too */
    uint64_t guest_gap;  /* when it was last judged... */
    uint64_t guest_next; /* ...and the next version for guests then */
};

void lks_pacing_init(struct lks_pacing *pacing,
                     const struct lks_pacing_options *options);

/* The next step. `random_unit` is uniform in [0, 1). */
void lks_pacing_next(struct lks_pacing *pacing,
                     uint64_t now_ns,
                     double random_unit,
                     struct lks_step *out_step);

/* `view` is of the newest version known, after the look. */
void lks_pacing_saw(struct lks_pacing *pacing,
                    const struct lks_pacing_look *look,
                    const struct lks_pacing_view *view);

/* A try was sent and answered, whatever the answer. */
void lks_pacing_tried(struct lks_pacing *pacing,
                      uint64_t sent_ns,
                      uint64_t replied_ns);

/* What became of it. */
void lks_pacing_settled(struct lks_pacing *pacing,
                        enum lks_outcome outcome,
                        uint64_t now_ns,
                        double random_unit);

/* Whether somebody waits for what is to be committed: then it need not be saved
 * up. A turn is waited for all the same. */
void lks_pacing_hurry(struct lks_pacing *pacing, bool hurried);

/* T: one look and one try. */
double lks_pacing_attempt_ns(const struct lks_pacing *pacing);

#endif
