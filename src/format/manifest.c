/*
 * Manifests: made, copied, encoded, decoded.
 *
 * The two messages are kept as protobuf-c decoded them, with the fields that
 * only a newer library knows, at every level. So whatever is built on them
 * carries those fields on. docs/format.md, "Manifest".
 */
#include "format/manifest.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "format/manifest_inside.h"
#include "format/sections.h"

static const struct lks_sections_kind manifest_kind = {"LKSMANI", "manifest",
                                                       LKS_MANIFEST_SIZE_MAX};

/* One without messages yet. */
static struct lks_manifest *manifest_new(const uint8_t stream[LKS_ID_SIZE],
                                         uint64_t version)
{
    struct lks_manifest *manifest = lks_alloc_zero(1, sizeof(*manifest));

    if (manifest == NULL)
        return NULL;
    memcpy(manifest->stream, stream, LKS_ID_SIZE);
    manifest->version = version;
    return manifest;
}

void lks_manifest_free(struct lks_manifest *manifest)
{
    if (manifest == NULL)
        return;
    lks_message_free((ProtobufCMessage *)manifest->head);
    lks_message_free((ProtobufCMessage *)manifest->control);
    lks_free(manifest);
}

/* An empty section is a message with nothing in it: unpacking makes one. */
static enum lks_status unpack_head(struct lks_manifest *manifest,
                                   const uint8_t *bytes,
                                   size_t size,
                                   struct lks_error *error)
{
    ProtobufCMessage *message;
    enum lks_status status;

    status = lks_message_unpack(&lks__manifest_head__descriptor, bytes, size,
                                "manifest", &message, error);
    if (status != LKS_OK)
        return status;
    manifest->head = (Lks__ManifestHead *)message;
    manifest->tail_capacity = manifest->head->n_tail;
    manifest->writer_capacity = manifest->head->n_writers;
    return LKS_OK;
}

static enum lks_status unpack_control(struct lks_manifest *manifest,
                                      const uint8_t *bytes,
                                      size_t size,
                                      struct lks_error *error)
{
    ProtobufCMessage *message;
    enum lks_status status;

    status = lks_message_unpack(&lks__manifest_control__descriptor, bytes, size,
                                "manifest", &message, error);
    if (status != LKS_OK)
        return status;
    manifest->control = (Lks__ManifestControl *)message;
    manifest->producer_capacity = manifest->control->n_producers;
    manifest->map_bound = size;
    return LKS_OK;
}

static enum lks_status set_genesis(struct lks_manifest *manifest,
                                   const struct lks_descriptor *descriptor,
                                   struct lks_error *error)
{
    Lks__ManifestHead *head = manifest->head;

    head->first_step = descriptor->first_step;
    head->next_step = descriptor->first_step;
    head->first_live_step = descriptor->first_step;
    head->claimed = descriptor->first_step;
    manifest->control->producers_to_end = descriptor->producers_to_end;
    if (descriptor->max_live_steps == 0 && descriptor->max_live_bytes == 0)
        return LKS_OK;

    head->limits = lks_alloc(sizeof(*head->limits));
    if (head->limits == NULL)
        return lks_error_no_memory(error);
    lks__limits__init(head->limits);
    head->limits->live_steps = descriptor->max_live_steps;
    head->limits->live_bytes = descriptor->max_live_bytes;
    return LKS_OK;
}

enum lks_status lks_manifest_genesis(const struct lks_descriptor *descriptor,
                                     struct lks_manifest **out_manifest,
                                     struct lks_error *error)
{
    struct lks_manifest *manifest = manifest_new(descriptor->stream, 0);
    enum lks_status status;

    if (manifest == NULL)
        return lks_error_no_memory(error);
    status = unpack_head(manifest, NULL, 0, error);
    if (status == LKS_OK)
        status = unpack_control(manifest, NULL, 0, error);
    if (status == LKS_OK)
        status = set_genesis(manifest, descriptor, error);
    if (status != LKS_OK) {
        lks_manifest_free(manifest);
        return status;
    }
    *out_manifest = manifest;
    return LKS_OK;
}

/* Fills `copy` from the packed messages of `manifest`: what is not yet known
 * of a message comes along, and nothing has to be told twice. */
static enum lks_status copy_messages(const struct lks_manifest *manifest,
                                     struct lks_buf *buf,
                                     struct lks_manifest *copy,
                                     struct lks_error *error)
{
    enum lks_status status;

    status =
        lks_message_pack((const ProtobufCMessage *)manifest->head, buf, error);
    if (status == LKS_OK)
        status = unpack_head(copy, buf->data, buf->size, error);
    if (status != LKS_OK || manifest->control == NULL)
        return status;

    lks_buf_clear(buf);
    status = lks_message_pack((const ProtobufCMessage *)manifest->control, buf,
                              error);
    if (status == LKS_OK)
        status = unpack_control(copy, buf->data, buf->size, error);
    return status;
}

enum lks_status lks_manifest_copy(const struct lks_manifest *manifest,
                                  struct lks_manifest **out_copy,
                                  struct lks_error *error)
{
    struct lks_manifest *copy =
        manifest_new(manifest->stream, manifest->version);
    enum lks_status status;
    struct lks_buf buf;

    if (copy == NULL)
        return lks_error_no_memory(error);
    lks_buf_init(&buf, 2 * LKS_MANIFEST_SIZE_MAX);
    status = copy_messages(manifest, &buf, copy, error);
    lks_buf_done(&buf);
    if (status != LKS_OK) {
        lks_manifest_free(copy);
        return status;
    }
    *out_copy = copy;
    return LKS_OK;
}

enum lks_status lks_manifest_encode(const struct lks_manifest *manifest,
                                    struct lks_buf *buf,
                                    struct lks_error *error)
{
    assert(manifest->control != NULL);
    assert(manifest->version > 0);

    return lks_sections_encode(&manifest_kind, manifest->stream,
                               manifest->version,
                               (const ProtobufCMessage *)manifest->head,
                               (const ProtobufCMessage *)manifest->control, buf,
                               error);
}

/* The sections have passed their checksums. */
static enum lks_status decode_sections(const struct lks_sections *sections,
                                       struct lks_manifest *manifest,
                                       struct lks_error *error)
{
    enum lks_status status;

    status = unpack_head(manifest, sections->head, sections->head_size, error);
    if (status == LKS_OK)
        status = lks_manifest_check_head(manifest, error);
    if (status != LKS_OK || sections->control == NULL)
        return status;

    status = unpack_control(manifest, sections->control, sections->control_size,
                            error);
    if (status == LKS_OK)
        status = lks_manifest_check_control(manifest, error);
    return status;
}

static enum lks_status make_from_sections(const struct lks_sections *sections,
                                          const uint8_t stream[LKS_ID_SIZE],
                                          uint64_t version,
                                          struct lks_manifest **out_manifest,
                                          struct lks_error *error)
{
    struct lks_manifest *manifest;
    enum lks_status status;

    if (version == 0)
        return lks_error_set(error, LKS_CORRUPT,
                             "the manifest is of version 0, which is never "
                             "stored");
    manifest = manifest_new(stream, version);
    if (manifest == NULL)
        return lks_error_no_memory(error);
    status = decode_sections(sections, manifest, error);
    if (status != LKS_OK) {
        lks_manifest_free(manifest);
        return status;
    }
    *out_manifest = manifest;
    return LKS_OK;
}

enum lks_status lks_manifest_decode(const uint8_t *bytes,
                                    size_t size,
                                    const uint8_t stream[LKS_ID_SIZE],
                                    uint64_t version,
                                    struct lks_manifest **out_manifest,
                                    struct lks_error *error)
{
    struct lks_sections sections;
    enum lks_status status;

    status = lks_sections_decode(&manifest_kind, bytes, size, stream, version,
                                 &sections, error);
    if (status != LKS_OK)
        return status;
    return make_from_sections(&sections, stream, version, out_manifest, error);
}

enum lks_status lks_manifest_decode_head(const uint8_t *bytes,
                                         size_t size,
                                         const uint8_t stream[LKS_ID_SIZE],
                                         uint64_t version,
                                         struct lks_manifest **out_manifest,
                                         size_t *out_needed,
                                         struct lks_error *error)
{
    struct lks_manifest *manifest = NULL;
    struct lks_sections sections;
    enum lks_status status;
    size_t needed;

    status = lks_sections_decode_head(&manifest_kind, bytes, size, stream,
                                      version, &sections, &needed, error);
    if (status == LKS_OK && needed == 0)
        status =
            make_from_sections(&sections, stream, version, &manifest, error);
    if (status != LKS_OK)
        return status;
    *out_manifest = manifest;
    *out_needed = needed;
    return LKS_OK;
}
