/*
 * A stream built by hand: TGBs, manifests and index blocks written one after
 * the other by the format's own functions, without a producer.
 *
 * What is in a slice follows from its TGB's seq and its number, so that a
 * reader can check any slice without having kept it. The one producer's seqs
 * are counted from 0 and so, but for forks, are the steps.
 */
#ifndef LKS_TESTS_SUPPORT_STREAM_BUILDER_H
#define LKS_TESTS_SUPPORT_STREAM_BUILDER_H

#include "format/manifest.h"
#include "manifest/stream.h"

/* May be changed between two appends. */
struct stream_shape {
    size_t size;   /* of a slice */
    size_t spread; /* and up to so many bytes more, each its own; 0: uniform */
    enum lks_codec codec;
    bool mixed; /* every other slice is not packed */
};

struct stream_builder {
    struct lks_store *store; /* borrowed */
    struct lks_descriptor descriptor;
    struct lks_manifest *head; /* the newest committed */
    struct lks_manifest *next; /* what the next commit creates, or NULL */
    struct stream_shape shape;
    uint64_t seq; /* of the next TGB */
};

/* Writes stream.json. `descriptor` gives the mesh and what version 0 starts
 * with; its stream id is made up here. */
enum lks_status stream_builder_init(struct stream_builder *builder,
                                    struct lks_store *store,
                                    const struct lks_descriptor *descriptor,
                                    struct lks_error *error);
void stream_builder_done(struct stream_builder *builder);

/* Writes a TGB, whose metadata is "meta of <seq>". Commits by itself when the
 * block is full. */
enum lks_status stream_builder_append(struct stream_builder *builder,
                                      struct lks_error *error);

/* Makes what was appended visible, with one manifest. Nothing new is fine. */
enum lks_status stream_builder_commit(struct stream_builder *builder,
                                      struct lks_error *error);

/* `count` TGBs, `per_version` of them with each manifest. */
enum lks_status stream_builder_add(struct stream_builder *builder,
                                   uint64_t count,
                                   uint64_t per_version,
                                   struct lks_error *error);

/* Ends the stream, in a version of its own. */
enum lks_status stream_builder_end(struct stream_builder *builder,
                                   struct lks_error *error);

/* The name of a TGB's object. */
void stream_builder_name(uint64_t seq, char name[LKS_NAME_SIZE]);

size_t stream_shape_slice_size(const struct stream_shape *shape,
                               uint64_t seq,
                               uint32_t index);

/* Whether these are the bytes of that slice. */
bool stream_shape_is_slice(const struct stream_shape *shape,
                           uint64_t seq,
                           uint32_t index,
                           const void *data,
                           size_t size);

#endif
