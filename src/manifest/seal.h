/*
 * Sealing: making the index block of a full tail.
 */
#ifndef LKS_MANIFEST_SEAL_H
#define LKS_MANIFEST_SEAL_H

#include "format/manifest.h"
#include "manifest/stream.h"

/*
 * Makes sure that the index block of this manifest's tail, which is full,
 * exists and says what the manifest says. LKS_CORRUPT if it says anything else.
 */
enum lks_status lks_seal(struct lks_stream *stream,
                         const struct lks_manifest *manifest,
                         const struct lks_cancel *cancel,
                         struct lks_error *error);

#endif
