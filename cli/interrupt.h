/*
 * SIGINT and SIGTERM. A thread waits for them, so that it may take locks and
 * call the library, which a signal handler may not.
 */
#ifndef LAKESTREAM_CLI_INTERRUPT_H
#define LAKESTREAM_CLI_INTERRUPT_H

#include <stdbool.h>

#include "lakestream.h"

/* Before any other thread is started, so that none gets the signals. */
void interrupt_start(void);

/* When there is nothing more to interrupt. */
void interrupt_stop(void);

/* While anything is watched, a signal cancels it and leaves the ending to the
 * command. Otherwise, and if that takes too long, the process exits. */
void interrupt_watch_producer(struct lks_producer *producer);
void interrupt_watch_consumer(struct lks_consumer *consumer);

/* For work that looks at interrupted() itself. */
void interrupt_watch_work(void *work);

/* Before the handle is closed. NULL is fine. */
void interrupt_unwatch(const void *handle);

bool interrupted(void);

/* 130 for SIGINT, 143 for SIGTERM; only if interrupted(). */
int interrupt_exit_code(void);

/* A temporary file to remove if the process must exit; NULL for none. */
void interrupt_owns_file(const char *path);

#endif
