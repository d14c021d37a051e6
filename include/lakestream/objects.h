/*
 * Section 8 of lakestream.h, which includes this file: the store under a
 * stream, for probing it and for measuring against it. Named objects under a
 * URL, with the library's own client. Writes are not retried.
 */
#ifndef LAKESTREAM_OBJECTS_H
#define LAKESTREAM_OBJECTS_H

#ifndef LAKESTREAM_H
#error "include lakestream.h"
#endif

struct lks_store;

LKS_API enum lks_status lks_store_open(const char *url,
                                       const struct lks_options *options,
                                       struct lks_store **out_store,
                                       struct lks_error *error);
LKS_API void lks_store_close(struct lks_store *store);

/* As lks_stream_stats(). */
LKS_API enum lks_status lks_store_stats(struct lks_store *store,
                                        char **out_json,
                                        struct lks_error *error);

LKS_API enum lks_status lks_object_put(struct lks_store *store,
                                       const char *key,
                                       const void *data,
                                       size_t size,
                                       struct lks_error *error);

/* Exactly `size` bytes from `offset`; a shorter object is LKS_CORRUPT. */
LKS_API enum lks_status lks_object_get(struct lks_store *store,
                                       const char *key,
                                       uint64_t offset,
                                       void *data,
                                       size_t size,
                                       struct lks_error *error);

/* A missing object is no error. */
LKS_API enum lks_status lks_object_remove(struct lks_store *store,
                                          const char *key,
                                          struct lks_error *error);

/* The checksum that every stored byte is under: CRC32C (Castagnoli), as iSCSI
 * counts it; "123456789" gives e3069283. */
LKS_API uint32_t lks_crc32c(const void *data, size_t size);

/* Tries whether the store keeps the promises that the protocol needs, in keys
 * of its own that it removes. A line per check: {check, ok, detail} as JSON.
 * LKS_UNSUPPORTED if one failed, after all were tried. */
LKS_API enum lks_status lks_store_probe(struct lks_store *store,
                                        lks_line_fn *line,
                                        void *arg,
                                        struct lks_error *error);

#endif /* LAKESTREAM_OBJECTS_H */
