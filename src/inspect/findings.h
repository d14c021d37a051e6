/*
 * What a verification found: problems, which are damage, and notes, which are
 * not. Both lists are bounded; what does not fit is counted.
 */
#ifndef LKS_INSPECT_FINDINGS_H
#define LKS_INSPECT_FINDINGS_H

#include "base/json_out.h"

#define LKS_FINDINGS_MAX 100u

struct lks_findings {
    char *texts[LKS_FINDINGS_MAX];
    uint64_t count; /* may exceed what is kept */
};

struct lks_report {
    struct lks_findings problems;
    struct lks_findings notes;
};

void lks_report_init(struct lks_report *report);
void lks_report_done(struct lks_report *report);

/* These fail only when memory is out. Each text names the object it is about.
 */
enum lks_status lks_report_problem(struct lks_report *report,
                                   struct lks_error *error,
                                   const char *format,
                                   ...) LKS_PRINTF(3, 4);
enum lks_status lks_report_note(struct lks_report *report,
                                struct lks_error *error,
                                const char *format,
                                ...) LKS_PRINTF(3, 4);

/* The members problems, problem_count, notes, note_count. */
void lks_report_write(const struct lks_report *report,
                      struct lks_json_out *out);

#endif
