/*
 * The offset that `pack` commits with each TGB: how it packs, and where in its
 * input it is. JSON, so that whoever meets it in a stream can read it.
 */
#ifndef LAKESTREAM_CLI_PACK_OFFSET_H
#define LAKESTREAM_CLI_PACK_OFFSET_H

#include "pack_plan.h"
#include "token_source.h"

/* Writes it and returns its size, which the largest numbers keep within
 * LKS_OFFSET_SIZE_MAX. */
size_t pack_offset_write(const struct pack_plan *plan,
                         const struct source_place *place,
                         char text[LKS_OFFSET_SIZE_MAX + 1]);

/* LKS_INVALID if it is not pack's, or if `plan` packs in another way; the
 * message names the option. */
enum lks_status pack_offset_read(const void *data,
                                 size_t size,
                                 const struct pack_plan *plan,
                                 struct source_place *out_place,
                                 struct lks_error *error);

#endif
