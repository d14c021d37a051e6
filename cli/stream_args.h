/* Opening what nearly every command works on. */
#ifndef LAKESTREAM_CLI_STREAM_ARGS_H
#define LAKESTREAM_CLI_STREAM_ARGS_H

#include "args.h"
#include "lakestream.h"

/* A stream, and a producer of it that a signal cancels. */
struct stream_user {
    struct lks_stream *stream;
    struct lks_producer *producer;
};

/* The option --producer, as every command that has it spells it. */
#define PRODUCER_OPTION                                                        \
    {                                                                          \
        .name = "producer", .type = ARG_ID, .value = "ID", .required = true,   \
        .text = "who appends: its place in the "                               \
                "stream for ever"                                              \
    }

/* Opens the stream at the first operand. */
enum lks_status stream_user_open(const struct args *args,
                                 struct stream_user *user,
                                 struct lks_error *error);

/* Opens its producer --producer. That moves the producer's epoch on, so look
 * at all input before. */
enum lks_status stream_user_produce(const struct args *args,
                                    struct stream_user *user,
                                    struct lks_error *error);

/* Closes what was opened; {0} is fine. */
void stream_user_close(struct stream_user *user);

#endif
