/*
 * A stream that is open: its store, and what stream.json says.
 */
#ifndef LKS_MANIFEST_STREAM_H
#define LKS_MANIFEST_STREAM_H

#include "format/descriptor.h"
#include "store/store.h"

struct lks_stream {
    const struct lks_env *env;
    struct lks_store *store;
    struct lks_descriptor descriptor;
    char id_text[2 * LKS_ID_SIZE + 1];
    uint32_t slice_count; /* dp * cp */
    int64_t pid;          /* who opened it: handles do not survive fork() */
    int64_t date_ms;      /* the store's clock when stream.json was read */
};

/*
 * Writes stream.json with a fresh id, having checked the store, and opens the
 * stream. `descriptor` says the mesh and what version 0 starts with; its id,
 * time and probe are filled in here. Takes `store` over, also on failure.
 */
enum lks_status lks_stream_make(struct lks_store *store,
                                struct lks_descriptor *descriptor,
                                struct lks_stream **out_stream,
                                struct lks_error *error);

/*
 * The same for a stream that does not begin empty: before stream.json is there,
 * and with it the stream, `seed` writes what must be there from the first
 * moment on. A seed of a stream that was never made is nobody's.
 */
typedef enum lks_status lks_stream_seed_fn(
    struct lks_store *store,
    const struct lks_descriptor *descriptor,
    void *arg,
    struct lks_error *error);
enum lks_status lks_stream_make_seeded(struct lks_store *store,
                                       struct lks_descriptor *descriptor,
                                       lks_stream_seed_fn *seed,
                                       void *seed_arg,
                                       struct lks_stream **out_stream,
                                       struct lks_error *error);

/* Reads stream.json. Takes `store` over, also on failure. */
enum lks_status lks_stream_load(struct lks_store *store,
                                struct lks_stream **out_stream,
                                struct lks_error *error);

/* lks_stream_close() is public. */

/* LKS_INVALID in a child after fork(). */
enum lks_status lks_stream_check_fork(const struct lks_stream *stream,
                                      struct lks_error *error);

#endif
