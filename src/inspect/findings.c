/*
 * What a verification found, in two bounded lists of texts.
 */
#include "inspect/findings.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

#define TEXT_SIZE 1024

void lks_report_init(struct lks_report *report)
{
    memset(report, 0, sizeof(*report));
}

static uint64_t kept(const struct lks_findings *findings)
{
    return findings->count < LKS_FINDINGS_MAX ? findings->count
                                              : LKS_FINDINGS_MAX;
}

void lks_report_done(struct lks_report *report)
{
    for (uint64_t i = 0; i < kept(&report->problems); i++)
        lks_free(report->problems.texts[i]);
    for (uint64_t i = 0; i < kept(&report->notes); i++)
        lks_free(report->notes.texts[i]);
    lks_report_init(report);
}

static enum lks_status add(struct lks_findings *findings,
                           struct lks_error *error,
                           const char *format,
                           va_list arguments)
{
    char text[TEXT_SIZE];

    if (findings->count >= LKS_FINDINGS_MAX) {
        findings->count++;
        return LKS_OK;
    }
    vsnprintf(text, sizeof(text), format, arguments);
    findings->texts[findings->count] = lks_text_dup(text);
    if (findings->texts[findings->count] == NULL)
        return lks_error_no_memory(error);
    findings->count++;
    return LKS_OK;
}

enum lks_status lks_report_problem(struct lks_report *report,
                                   struct lks_error *error,
                                   const char *format,
                                   ...)
{
    va_list arguments;
    enum lks_status status;

    va_start(arguments, format);
    status = add(&report->problems, error, format, arguments);
    va_end(arguments);
    return status;
}

enum lks_status lks_report_note(struct lks_report *report,
                                struct lks_error *error,
                                const char *format,
                                ...)
{
    va_list arguments;
    enum lks_status status;

    va_start(arguments, format);
    status = add(&report->notes, error, format, arguments);
    va_end(arguments);
    return status;
}

static void write_list(const struct lks_findings *findings,
                       struct lks_json_out *out,
                       const char *name,
                       const char *count_name)
{
    lks_json_out_open(out, name, '[');
    for (uint64_t i = 0; i < kept(findings); i++)
        lks_json_out_text(out, NULL, findings->texts[i]);
    lks_json_out_close(out, ']');
    lks_json_out_u64(out, count_name, findings->count);
}

void lks_report_write(const struct lks_report *report, struct lks_json_out *out)
{
    write_list(&report->problems, out, "problems", "problem_count");
    write_list(&report->notes, out, "notes", "note_count");
}
