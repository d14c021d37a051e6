/*
 * lakestream finish: this producer has no more to append.
 *
 * Opening a producer is what makes one, and finishing one more may end the
 * stream. So an id that was never opened is taken for a slip of the finger.
 */
#include <inttypes.h>

#include "commands.h"
#include "ended.h"
#include "known_producer.h"
#include "report.h"
#include "stream_args.h"

static const struct arg_option options[] = {
    PRODUCER_OPTION,
};

static enum lks_status check_known(const struct args *args,
                                   struct lks_stream *stream,
                                   struct lks_error *error)
{
    const char *id = args_text(args, "producer");
    struct known_producer known;
    enum lks_status status;

    status = known_producer_look(stream, id, &known, error);
    if (status != LKS_OK || known.found)
        return status;
    if (known.ids[0] == '\0')
        return fail(error, LKS_NOT_FOUND,
                    "no producer %s has ever opened %s, and no other has; to "
                    "end the stream as it is, use lakestream seal",
                    id, args->operands[0]);
    return fail(error, LKS_NOT_FOUND,
                "no producer %s has ever opened %s; its producers are %s", id,
                args->operands[0], known.ids);
}

static int run(struct args *args)
{
    const char *id = args_text(args, "producer");
    struct stream_user user;
    struct lks_error error;
    char what[160];
    uint64_t count;
    int code;

    if (stream_user_open(args, &user, &error) != LKS_OK ||
        check_known(args, user.stream, &error) != LKS_OK ||
        stream_user_produce(args, &user, &error) != LKS_OK) {
        code = report_error(args, &error);
        goto done;
    }
    count = lks_producer_next_seq(user.producer);
    if (lks_producer_finish(user.producer, &error) != LKS_OK) {
        code = report_error(args, &error);
        goto done;
    }
    snprintf(what, sizeof(what), "producer %s finished after %" PRIu64 " TGB%s",
             id, count, plural(count));
    code = report_ended(args, user.stream, what,
                        json_pack("{s:s, s:I}", "producer", id, "next_seq",
                                  (json_int_t)count));

done:
    stream_user_close(&user);
    return code;
}

const struct command command_finish = {
    .name = "finish",
    .operands = "URL",
    .operands_min = 1,
    .operands_max = 1,
    .opens = true,
    .reads = "producer|change",
    .reports = true,
    .text = "Mark a producer finished; with all finished the stream ends",
    .options = options,
    .option_count = COUNT_OF(options),
    .run = run,
};
