/*
 * Reading an object's first section: a guess at its length, and the rest if the
 * guess was too short. docs/format.md, "Sections".
 */
#include "manifest/section.h"

#include "format/manifest.h"

enum lks_status lks_section_read(struct lks_store *store,
                                 const char *name,
                                 lks_section_fn *decode,
                                 void *arg,
                                 struct lks_buf *bytes,
                                 uint64_t *get_count,
                                 struct lks_call *call,
                                 struct lks_error *error)
{
    size_t needed = LKS_MANIFEST_GUESS;

    while (needed > 0) {
        size_t wanted = needed - bytes->size;
        size_t got;
        enum lks_status status = lks_buf_reserve(bytes, wanted, error);

        if (status != LKS_OK)
            return status;
        status =
            lks_store_get(store, name, bytes->size, bytes->data + bytes->size,
                          wanted, &got, call, error);
        *get_count += 1;
        if (status != LKS_OK)
            return status;
        bytes->size += got;
        status = decode(arg, bytes, &needed, error);
        if (status != LKS_OK)
            return status;
        if (needed > 0 && (got == 0 || needed <= bytes->size))
            return lks_error_set(error, LKS_CORRUPT, "it is cut short");
    }
    return LKS_OK;
}
