/* Reading an object's first section, whose length only the object knows. */
#ifndef LKS_MANIFEST_SECTION_H
#define LKS_MANIFEST_SECTION_H

#include "base/buf.h"
#include "store/store.h"

/*
 * Makes of an object's first bytes what its user keeps in `arg`. If the first
 * section is not all there, *out_needed is the size that is, and nothing is
 * made; else it is 0.
 */
typedef enum lks_status lks_section_fn(void *arg,
                                       const struct lks_buf *bytes,
                                       size_t *out_needed,
                                       struct lks_error *error);

/*
 * One request, or two if the section is a long one; *get_count goes up by them.
 * `bytes` comes empty and ends as what was read.
 */
enum lks_status lks_section_read(struct lks_store *store,
                                 const char *name,
                                 lks_section_fn *decode,
                                 void *arg,
                                 struct lks_buf *bytes,
                                 uint64_t *get_count,
                                 struct lks_call *call,
                                 struct lks_error *error);

#endif
