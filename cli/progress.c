/*
 * A progress line on a terminal: how far, how fast, how long still.
 */
#include "progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define DRAW_EVERY_S 0.2
#define MB 1e6

double seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void progress_start(struct progress *progress,
                    const char *what,
                    uint64_t total,
                    bool wanted)
{
    progress->what = what;
    progress->total = total;
    progress->shown = false;
    progress->on = wanted && isatty(STDERR_FILENO);
    progress->started = seconds_now();
    progress->next = progress->started + DRAW_EVERY_S;
}

void progress_show(struct progress *progress, uint64_t done)
{
    double now, rate;

    if (!progress->on)
        return;
    now = seconds_now();
    if (now < progress->next)
        return;
    progress->next = now + DRAW_EVERY_S;
    progress->shown = true;

    rate =
        now > progress->started ? (double)done / (now - progress->started) : 0;
    fprintf(stderr, "\r\033[K%s: ", progress->what);
    if (progress->total > 0)
        fprintf(stderr, "%3.0f%%, %.1f of %.1f MB, %.1f MB/s",
                100.0 * (double)done / (double)progress->total,
                (double)done / MB, (double)progress->total / MB, rate / MB);
    else
        fprintf(stderr, "%.1f MB, %.1f MB/s", (double)done / MB, rate / MB);
    if (rate > 0 && done < progress->total)
        fprintf(stderr, ", %.0f s left",
                (double)(progress->total - done) / rate);
    fflush(stderr);
}

void progress_stop(struct progress *progress)
{
    if (progress->shown)
        fputs("\r\033[K", stderr);
    progress->on = false;
    progress->shown = false;
}
