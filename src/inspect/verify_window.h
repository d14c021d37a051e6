/*
 * Looking at several TGBs at the same time, in order: looks begin and are taken
 * in the order of the steps, and the work between is done by a pool.
 */
#ifndef LKS_INSPECT_VERIFY_WINDOW_H
#define LKS_INSPECT_VERIFY_WINDOW_H

#include "base/pool.h"
#include "format/entry.h"
#include "manifest/stream.h"

#define LKS_WINDOW_LOOKS 8u

/* Frames are read several at once up to this size; a larger one on its own, and
 * never two of those at the same time. */
#define LKS_LOOK_PIECE_SIZE (8u << 20)

/* The largest frame there is: a full slice that no codec could shrink. */
#define LKS_LOOK_FRAME_MAX (LKS_SLICE_SIZE_MAX + LKS_SLICE_SIZE_MAX / 64)

struct lks_window;

/* One TGB: what it should be, and what was found. */
struct lks_look {
    struct lks_job job;
    struct lks_window *window;
    struct lks_entry entry; /* borrowed until it is released */
    const char *where;      /* the object that has the entry; borrowed too */
    char name[LKS_NAME_SIZE];

    /* LKS_NOT_FOUND, LKS_CORRUPT, ... as `found` says. */
    enum lks_status status;
    struct lks_error found;
    /* Its footer is the one that was committed, whatever its frames are. */
    bool has_footer;
    struct lks_footer footer;

    struct lks_buf footer_bytes;
    struct lks_buf frames;
    struct lks_buf slice; /* one, unpacked */
    bool is_done;         /* locked by the window's monitor */
};

/* Belongs to one thread. */
struct lks_window {
    struct lks_stream *stream;
    bool data; /* look at the frames too */
    struct lks_pool *pool;
    struct lks_monitor *monitor;
    struct lks_look *looks;
    uint64_t begun;
    uint64_t taken;

    struct {
        bool large; /* somebody has a large frame in hand */
    } locked;       /* by monitor */
};

/* Starts nothing yet. */
void lks_window_init(struct lks_window *window,
                     struct lks_stream *stream,
                     bool data);
void lks_window_done(struct lks_window *window);

bool lks_window_is_full(const struct lks_window *window);
bool lks_window_is_empty(const struct lks_window *window);

/* Begins a look. The window must not be full. */
enum lks_status lks_window_begin(struct lks_window *window,
                                 const char *where,
                                 const struct lks_entry *entry,
                                 struct lks_error *error);

/* Waits for the oldest look, of which there must be one. To be released before
 * the next one is taken. */
struct lks_look *lks_window_take(struct lks_window *window);
void lks_window_release(struct lks_window *window);

/* Waits for all looks, and forgets what they found. */
void lks_window_drop(struct lks_window *window);

/* The work itself: fills in status, found and footer. */
void lks_look_run(struct lks_look *look);

/* To hold while a frame larger than a piece is in memory. */
void lks_window_enter_large(struct lks_window *window);
void lks_window_leave_large(struct lks_window *window);

#endif
