/*
 * A sound stream of several producers, made by hand in a store in memory, and
 * the means to spoil it: what verification must see.
 *
 * Producer i is called "p<i>". Its TGB of seq s has the offset "<i>@<s>".
 */
#ifndef LKS_TESTS_SUPPORT_STREAM_FORGE_H
#define LKS_TESTS_SUPPORT_STREAM_FORGE_H

#include "format/manifest.h"
#include "manifest/stream.h"
#include "support/check.h"
#include "support/store_faulty.h"

#define FORGE_PRODUCERS 4u

/* Changes what a TGB says of itself, and what its entry will say of it. */
typedef void forge_alter_fn(struct lks_footer *footer,
                            struct lks_entry *entry,
                            void *arg);

struct forge {
    struct faulty_store *store; /* the stream's */
    struct lks_stream *stream;
    struct lks_manifest *head; /* the newest */
    size_t slice_size;
    bool uneven; /* each slice a little larger than the one before it */
    enum lks_codec codec;
    forge_alter_fn *alter; /* NULL: all as it should be */
    void *alter_arg;
};

/* A stream of dp x cp with `producers` of them opened. */
void forge_init(struct forge *forge,
                uint32_t dp,
                uint32_t cp,
                uint32_t producers);

/* The same for a fork that begins at this step. */
void forge_init_fork(struct forge *forge,
                     uint64_t first_step,
                     uint32_t producers);
void forge_done(struct forge *forge);

/* Commits that open a producer (again), and finish it. */
void forge_open(struct forge *forge, uint32_t producer);
void forge_finish(struct forge *forge, uint32_t producer);

/* `count` TGBs in one commit; in two if a block ends between. */
void forge_append(struct forge *forge, uint32_t producer, uint64_t count);

/* One more TGB in a version that is not committed yet. */
void forge_add(struct forge *forge,
               struct lks_manifest *next,
               uint32_t producer);

/* All producers in turn, `per_commit` TGBs each time, up to `steps` steps. */
void forge_fill(struct forge *forge, uint64_t steps, uint64_t per_commit);

/* The next version to change, and putting it in its place. A block that it
 * fills is sealed. */
struct lks_manifest *forge_next(struct forge *forge);
void forge_commit(struct forge *forge, struct lks_manifest *next);

/* A producer's record in the newest manifest. */
struct lks_producer_record forge_record(const struct forge *forge,
                                        uint32_t producer);

/* A copy of the newest manifest; and going on from one, as if nothing had come
 * after it, which overwrites the versions that had. */
struct lks_manifest *forge_save(const struct forge *forge);
void forge_restore(struct forge *forge, struct lks_manifest *saved);

/* Objects' names. */
void forge_manifest_name(const struct forge *forge,
                         uint64_t version,
                         char name[LKS_NAME_SIZE]);
void forge_data_name(const struct forge *forge,
                     uint32_t producer,
                     uint64_t seq,
                     char name[LKS_NAME_SIZE]);

/* Spoiling. `at` counts from the object's end if it is negative. */
void forge_flip(struct forge *forge, const char *name, int64_t at);
void forge_remove(struct forge *forge, const char *name);
void forge_copy(struct forge *forge, const char *from, const char *to);
void forge_resize(struct forge *forge, const char *name, int64_t by);
void forge_put(struct forge *forge,
               const char *name,
               const void *data,
               size_t size);

#endif
