/*
 * Where a stream ends, read from its newest manifest.
 */
#include "ended.h"

#include "report.h"

int report_ended(const struct args *args,
                 struct lks_stream *stream,
                 const char *what,
                 json_t *report)
{
    struct lks_error error;
    json_t *info, *ended, *ended_at;
    char *text = NULL;

    if (lks_stream_info(stream, &text, &error) != LKS_OK) {
        json_decref(report);
        return report_error(args, &error);
    }
    info = report_parse(text);
    ended = json_object_get(info, "ended");
    ended_at = json_object_get(info, "ended_at");

    if (!args->json && json_is_true(ended))
        printf("%s; the stream has ended at step %" JSON_INTEGER_FORMAT "\n",
               what, json_integer_value(ended_at));
    else if (!args->json)
        printf("%s; the stream goes on\n", what);
    if (report != NULL) {
        json_object_set(report, "ended", ended);
        json_object_set(report, "ended_at", ended_at);
    }
    json_decref(info);

    if (args->json)
        return report_json(args, report);
    json_decref(report);
    return EXIT_DONE;
}
