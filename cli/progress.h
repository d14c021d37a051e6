/* A progress line on a terminal, and nothing anywhere else. */
#ifndef LAKESTREAM_CLI_PROGRESS_H
#define LAKESTREAM_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    const char *what;
    uint64_t total; /* 0: not known */
    bool shown;
    bool on;
    double started;
    double next;
};

/* Seconds of a clock that only goes forward. */
double seconds_now(void);

/* `what` is borrowed. Off if stderr is no terminal. */
void progress_start(struct progress *progress,
                    const char *what,
                    uint64_t total,
                    bool wanted);

/* `done` bytes of the total; drawn a few times a second at most. */
void progress_show(struct progress *progress, uint64_t done);

/* Wipes the line. */
void progress_stop(struct progress *progress);

#endif
