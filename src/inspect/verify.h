/*
 * A verification's parts, and what they share. Each part looks at one kind of
 * evidence; none stops at damage that leaves something else to look at.
 *
 * All judge by one manifest, the newest when they began. What was added since
 * is not looked at; what is missing since is explained by a newer look.
 */
#ifndef LKS_INSPECT_VERIFY_H
#define LKS_INSPECT_VERIFY_H

#include "inspect/ledger.h"
#include "inspect/verify_window.h"
#include "manifest/lookup.h"

struct lks_verify {
    struct lks_stream *stream;
    struct lks_log log;
    const struct lks_manifest *head; /* the log's: never looked at again */
    struct lks_report report;
    struct lks_ledger ledger;
    struct lks_window window;

    /* The entry before, if it is known. */
    bool last_known;
    uint64_t last_version;
    uint64_t last_total;

    uint64_t manifest_count;
    uint64_t block_count;
    uint64_t step_count;
    uint64_t present_count; /* live TGBs whose object is there */
    uint64_t byte_count;    /* of those objects */

    /* Data objects that no live step names. */
    uint64_t ahead_count;  /* uploaded and, as far as the head knows, next */
    uint64_t behind_count; /* never committed, or of a step that is not live */
};

/* The manifests that are there, each against the one before it, and against
 * the block it sealed. */
enum lks_status lks_verify_chain(struct lks_verify *verify,
                                 struct lks_error *error);

/* Whether `newer` may follow `older`, its predecessor. */
enum lks_status lks_verify_pair(struct lks_verify *verify,
                                const struct lks_manifest *older,
                                const struct lks_manifest *newer,
                                struct lks_error *error);

/* Every live step: blocks and tail, producers, objects. */
enum lks_status lks_verify_steps(struct lks_verify *verify,
                                 struct lks_error *error);

/* The names under the prefix, after the steps. */
enum lks_status lks_verify_names(struct lks_verify *verify,
                                 struct lks_error *error);

/*
 * An index block, whole. LKS_NOT_FOUND when it is not there. Bytes and index
 * are the caller's.
 */
enum lks_status lks_verify_read_block(struct lks_verify *verify,
                                      uint64_t number,
                                      struct lks_buf *buf,
                                      struct lks_index **out_index,
                                      struct lks_error *error);

/*
 * What a failed read of `name` says of the stream: damage becomes a problem and
 * LKS_OK; what was reclaimed meanwhile is none; a store that does not answer
 * stays a failure.
 */
enum lks_status lks_verify_judge(struct lks_verify *verify,
                                 const char *name,
                                 const struct lks_error *found,
                                 struct lks_error *error);

/* The same for an object of `step` that is not there. */
enum lks_status lks_verify_missing(struct lks_verify *verify,
                                   const char *name,
                                   uint64_t step,
                                   struct lks_error *error);

#endif
