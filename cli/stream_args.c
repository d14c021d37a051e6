/*
 * Opening what nearly every command works on: a stream, and one producer.
 */
#include "stream_args.h"

#include "interrupt.h"

enum lks_status stream_user_open(const struct args *args,
                                 struct stream_user *user,
                                 struct lks_error *error)
{
    user->producer = NULL;
    user->stream = NULL;
    return lks_stream_open(args->operands[0], args->options, &user->stream,
                           error);
}

enum lks_status stream_user_produce(const struct args *args,
                                    struct stream_user *user,
                                    struct lks_error *error)
{
    enum lks_status status;

    status = lks_producer_open(user->stream, args_text(args, "producer"),
                               args->options, &user->producer, error);
    if (status == LKS_OK)
        interrupt_watch_producer(user->producer);
    return status;
}

void stream_user_close(struct stream_user *user)
{
    interrupt_unwatch(user->producer);
    lks_producer_close(user->producer);
    lks_stream_close(user->stream);
    user->producer = NULL;
    user->stream = NULL;
}
