/*
 * A store: named, immutable objects under one prefix. This text is the
 * contract; tests/contract/ holds every store to it.
 *
 * Keys      are relative to the store's prefix: segments of [A-Za-z0-9._-],
 *           none empty, none with a '.' first, joined by '/'; at most
 *           LKS_KEY_SIZE_MAX bytes. Anything else is LKS_INVALID and never
 *           reaches the backend. A key that another key continues with a '/'
 *           is not portable: a store may refuse the later one (LKS_INVALID).
 * Calls     block. They are safe from many threads and processes at once.
 * Whole     an object appears with all its bytes or not at all, and after a
 *           write was acknowledged every later get, stat and list shows it.
 * Durable   what was acknowledged survives a crash of the machine, unless the
 *           store was opened with durability=none.
 * Writes    are never retried by the store. LKS_UNSURE says: sent, and whether
 *           it took, or may still take, is not known.
 * Reads     are retried inside, within limits; LKS_UNAVAILABLE is what is left.
 *
 * create makes an object only if its name is free. Its answers, all of them:
 *   LKS_OK          created now, by this call
 *   LKS_EXISTS      an object of that name is there; it was not touched. It may
 *                   be this caller's own, from a call whose answer was lost
 *   LKS_UNSURE      a race in progress, throttled, timed out, reset
 *   others          nothing was created: LKS_DENIED, LKS_UNSUPPORTED,
 *                   LKS_INVALID, LKS_NO_MEMORY, LKS_UNAVAILABLE (certainly not
 *                   done: disk full, no connection)
 * put overwrites; the same answers but for LKS_EXISTS.
 * get, stat: LKS_NOT_FOUND when there is no such object.
 *
 * A write that its writer did not live to finish may leave something that costs
 * what it holds and that no listing of objects shows: an upload in parts, a
 * temporary file. uploads lists these, abort ends one. Whoever aborts needs a
 * proof that nobody waits for the object: a writer at work would fail.
 */
#ifndef LKS_STORE_STORE_H
#define LKS_STORE_STORE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/env.h"
#include "base/json_out.h"
#include "base/options.h"

#define LKS_KEY_SIZE_MAX 256u
#define LKS_ETAG_SIZE 72u
#define LKS_LIST_MAX 1000u   /* keys of one list call */
#define LKS_REMOVE_MAX 1000u /* keys of one remove call */
#define LKS_UPLOADS_MAX 100u /* uploads of one uploads call */
#define LKS_UPLOAD_ID_SIZE 1024u

/*
 * One call: what the caller wants of it, and what the reply said besides. Zero
 * it (LKS_CALL_INIT) before use; NULL where neither matters.
 */
struct lks_call {
    /* In: give up soon once this is set (LKS_CANCELLED, or LKS_UNSURE for a
     * write that was sent). May be NULL. */
    const struct lks_cancel *cancel;
    /* In: the caller needs date_ms. Some stores pay for it. */
    bool want_date;

    /* Out: the store's own clock when it replied, Unix milliseconds; INT64_MIN
     * if there was no reply. Steps of a second on some stores. */
    int64_t date_ms;
    /* Out: the store asked for less load (429, 503). */
    bool throttled;
    /* Out, get and stat: the whole object's size, its version tag (the same
     * tag means the same object), its age by the store's clock. */
    uint64_t object_size;
    char etag[LKS_ETAG_SIZE];
    int64_t modified_ms;
    /* Out: requests sent, retries included. */
    uint32_t request_count;
};

#define LKS_CALL_INIT                                                          \
    {                                                                          \
        .date_ms = INT64_MIN                                                   \
    }

/* A piece of an object's bytes; an object is written from several. */
struct lks_part {
    const void *data;
    size_t size;
};

struct lks_listed {
    char key[LKS_KEY_SIZE_MAX + 1];
    uint64_t size;
    int64_t modified_ms;
};

/* A write that has begun, and has neither ended nor been aborted. */
struct lks_upload {
    char key[LKS_KEY_SIZE_MAX + 1];
    char id[LKS_UPLOAD_ID_SIZE]; /* the store's, among those of one key */
};

/* What a request asks for; what requests cost differs by it. */
enum lks_request {
    LKS_REQUEST_GET,
    LKS_REQUEST_STAT,
    LKS_REQUEST_PUT,    /* and create, and all of an upload in parts */
    LKS_REQUEST_LIST,   /* of objects or of uploads */
    LKS_REQUEST_REMOVE, /* and abort */
    LKS_REQUEST_COUNT
};

struct lks_store;

struct lks_store_ops {
    enum lks_status (*get)(struct lks_store *store,
                           const char *key,
                           uint64_t offset,
                           void *data,
                           size_t size,
                           size_t *out_size,
                           struct lks_call *call,
                           struct lks_error *error);
    enum lks_status (*put)(struct lks_store *store,
                           const char *key,
                           const struct lks_part *parts,
                           size_t part_count,
                           bool only_if_absent,
                           struct lks_call *call,
                           struct lks_error *error);
    enum lks_status (*list)(struct lks_store *store,
                            const char *prefix,
                            const char *after,
                            size_t max,
                            struct lks_listed *listed,
                            size_t *out_count,
                            struct lks_call *call,
                            struct lks_error *error);
    enum lks_status (*remove)(struct lks_store *store,
                              const char *const *keys,
                              size_t key_count,
                              struct lks_call *call,
                              struct lks_error *error);
    enum lks_status (*stat)(struct lks_store *store,
                            const char *key,
                            struct lks_call *call,
                            struct lks_error *error);
    /* Both are NULL where a write leaves nothing behind. */
    enum lks_status (*uploads)(struct lks_store *store,
                               const char *prefix,
                               const struct lks_upload *after,
                               size_t max,
                               struct lks_upload *uploads,
                               size_t *out_count,
                               struct lks_call *call,
                               struct lks_error *error);
    enum lks_status (*abort)(struct lks_store *store,
                             const struct lks_upload *upload,
                             struct lks_call *call,
                             struct lks_error *error);
    void (*close)(struct lks_store *store);
    /* Whether its calls are work of this machine and hardly ever wait: more of
     * them at a time than there are processors only take turns. NULL: no. */
    bool (*works_here)(struct lks_store *store);
};

/* A backend embeds this as its first member, and fills it by
 * lks_store_init(). Its functions are called with a valid key and a call that
 * is not NULL; what they say in an error is the reason alone. */
struct lks_store {
    const struct lks_store_ops *ops;
    const struct lks_env *env;
    int64_t pid;    /* who opened it: a child after fork() is refused */
    char url[1100]; /* for messages: never with secrets in it */
    char
        place[256]; /* " at http://host" where the URL does not say it, or "" */
    _Atomic uint64_t request_counts[LKS_REQUEST_COUNT]; /* retries too */
};

void lks_store_init(struct lks_store *store,
                    const struct lks_store_ops *ops,
                    const struct lks_env *env,
                    const char *url_format,
                    ...) LKS_PRINTF(4, 5);

/* Opens the backend that the URL names. Makes no request. */
enum lks_status lks_store_connect(const char *url,
                                  const struct lks_env *env,
                                  const struct lks_options *options,
                                  struct lks_store **out_store,
                                  struct lks_error *error);

/* The backends, for tests that want one in particular. A mem store that is
 * opened by the same name twice is the same store while one is open; the first
 * one's environment, which must outlive it, is the clock of all. */
enum lks_status lks_store_mem_open(const char *name,
                                   const struct lks_env *env,
                                   struct lks_store **out_store,
                                   struct lks_error *error);
enum lks_status lks_store_file_open(const char *path,
                                    const struct lks_env *env,
                                    bool durable,
                                    struct lks_store **out_store,
                                    struct lks_error *error);
enum lks_status lks_store_s3_open(const char *bucket,
                                  const char *prefix,
                                  const struct lks_env *env,
                                  const struct lks_options *options,
                                  struct lks_store **out_store,
                                  struct lks_error *error);

/* lks_store_close() is public: see lakestream.h. */

/*
 * Reads up to `size` bytes from `offset` on. Fewer come only when the object
 * ends there; none at all, with LKS_OK, when it ends at or before `offset`.
 */
enum lks_status lks_store_get(struct lks_store *store,
                              const char *key,
                              uint64_t offset,
                              void *data,
                              size_t size,
                              size_t *out_size,
                              struct lks_call *call,
                              struct lks_error *error);

/* Exactly `size` bytes; a shorter object is LKS_CORRUPT, naming both. */
enum lks_status lks_store_get_exact(struct lks_store *store,
                                    const char *key,
                                    uint64_t offset,
                                    void *data,
                                    size_t size,
                                    struct lks_call *call,
                                    struct lks_error *error);

/*
 * A whole object of unknown size, appended to `buf`: a first read of
 * `size_guess`, then the rest if there is one. LKS_CORRUPT when it is larger
 * than the buffer's ceiling, or changed in between.
 */
enum lks_status lks_store_get_all(struct lks_store *store,
                                  const char *key,
                                  size_t size_guess,
                                  struct lks_buf *buf,
                                  struct lks_call *call,
                                  struct lks_error *error);

enum lks_status lks_store_put(struct lks_store *store,
                              const char *key,
                              const struct lks_part *parts,
                              size_t part_count,
                              struct lks_call *call,
                              struct lks_error *error);
enum lks_status lks_store_create(struct lks_store *store,
                                 const char *key,
                                 const struct lks_part *parts,
                                 size_t part_count,
                                 struct lks_call *call,
                                 struct lks_error *error);

/*
 * The keys that begin with `prefix` and come after `after` ("" for all), in
 * ascending order of their bytes, at most `max` <= LKS_LIST_MAX. Fewer than
 * `max` means that there are no more. Complete for what existed when the call
 * began and still exists when it returns.
 */
enum lks_status lks_store_list(struct lks_store *store,
                               const char *prefix,
                               const char *after,
                               size_t max,
                               struct lks_listed *listed,
                               size_t *out_count,
                               struct lks_call *call,
                               struct lks_error *error);

/* Missing keys are no error. On failure some may be gone. */
enum lks_status lks_store_remove(struct lks_store *store,
                                 const char *const *keys,
                                 size_t key_count,
                                 struct lks_call *call,
                                 struct lks_error *error);
enum lks_status lks_store_stat(struct lks_store *store,
                               const char *key,
                               struct lks_call *call,
                               struct lks_error *error);

/*
 * The uploads of keys that begin with `prefix` and come after `after` (NULL for
 * all), by their keys, at most `max` <= LKS_UPLOADS_MAX. Fewer than `max` means
 * that there are no more. Those of writers at work are among them.
 */
enum lks_status lks_store_uploads(struct lks_store *store,
                                  const char *prefix,
                                  const struct lks_upload *after,
                                  size_t max,
                                  struct lks_upload *uploads,
                                  size_t *out_count,
                                  struct lks_call *call,
                                  struct lks_error *error);

/* Ends an upload as it was listed, and frees what it holds. One that has ended
 * since is no error, and what it made is not touched. */
enum lks_status lks_store_abort(struct lks_store *store,
                                const struct lks_upload *upload,
                                struct lks_call *call,
                                struct lks_error *error);

/* The requests sent so far, as members of an object: gets, stats, puts, lists,
 * removes. */
void lks_store_put_stats(struct lks_store *store, struct lks_json_out *out);

/* Whether a key is one by the rules above. */
bool lks_key_is_valid(const char *key);

/* Whether keys may begin so: "", or a valid key cut anywhere. */
bool lks_key_prefix_is_valid(const char *prefix);

/*
 * The checks that a store keeps the promises of this page, in keys under
 * probe/ that it removes; `line` gets one JSON object per check. When all hold,
 * *out_summary (may be NULL) is a JSON object for the stream's descriptor, to
 * be freed by the caller. LKS_UNSUPPORTED names the first that failed.
 */
enum lks_status lks_store_check(struct lks_store *store,
                                lks_line_fn *line,
                                void *line_arg,
                                char **out_summary,
                                struct lks_error *error);

#endif
