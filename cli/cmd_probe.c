/*
 * lakestream probe: does this store keep the promises that streams need?
 */
#include "commands.h"
#include "report.h"

struct probe {
    const struct args *args;
    json_t *checks;
};

static enum lks_status take_check(const char *line, void *arg)
{
    struct probe *probe = arg;
    json_t *check = json_loads(line, 0, NULL);
    const char *name = "?", *detail = "";
    int ok = 0;

    if (check == NULL)
        return LKS_NO_MEMORY;
    if (probe->args->json)
        return json_array_append_new(probe->checks, check) == 0 ? LKS_OK
                                                                : LKS_NO_MEMORY;

    json_unpack(check, "{s:s, s:b, s?s}", "check", &name, "ok", &ok, "detail",
                &detail);
    printf("%-4s %s%s%s\n", ok ? "ok" : "FAIL", name, *detail ? ": " : "",
           detail);
    json_decref(check);
    return LKS_OK;
}

static int run(struct args *args)
{
    const char *url = args->operands[0];
    struct probe probe = {.args = args, .checks = json_array()};
    struct lks_store *store = NULL;
    struct lks_error error;
    enum lks_status status;
    int code = EXIT_DONE;

    status = lks_store_open(url, args->options, &store, &error);
    if (status == LKS_OK)
        status = lks_store_probe(store, take_check, &probe, &error);
    lks_store_close(store);

    if (args->json && (status == LKS_OK || status == LKS_UNSUPPORTED))
        code = report_json(args,
                           json_pack("{s:o, s:b, s:O}", "url", report_name(url),
                                     "ok", status == LKS_OK, "checks",
                                     probe.checks));
    json_decref(probe.checks);
    return status == LKS_OK ? code : report_error(args, &error);
}

const struct command command_probe = {
    .name = "probe",
    .operands = "URL",
    .operands_min = 1,
    .operands_max = 1,
    .opens = true,
    .reports = true,
    .text = "Check that a store keeps the promises that streams need",
    .run = run,
};
