/*
 * Building a stream by hand.
 */
#include "support/stream_builder.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/crc32c.h"
#include "format/index.h"

#define PRODUCER "builder"
#define EPOCH 1u
#define OBJECT_SIZE_MAX (256u << 20)

static const uint8_t owner[LKS_ID_SIZE] = {0xb0, 0x0b, 0x1e, 0x55};

static enum lks_status write_object(struct stream_builder *builder,
                                    const char *name,
                                    const struct lks_buf *buf,
                                    struct lks_error *error)
{
    struct lks_part part = {.data = buf->data, .size = buf->size};

    return lks_store_create(builder->store, name, &part, 1, NULL, error);
}

enum lks_status stream_builder_init(struct stream_builder *builder,
                                    struct lks_store *store,
                                    const struct lks_descriptor *descriptor,
                                    struct lks_error *error)
{
    struct lks_buf buf;
    enum lks_status status;

    memset(builder, 0, sizeof(*builder));
    builder->store = store;
    builder->descriptor = *descriptor;
    builder->descriptor.format = LKS_FORMAT_VERSION;
    lks_env_random(store->env, builder->descriptor.stream, LKS_ID_SIZE);
    builder->shape.size = 100;

    lks_buf_init(&buf, LKS_DESCRIPTOR_SIZE_MAX);
    status = lks_descriptor_encode(&builder->descriptor, &buf, error);
    if (status == LKS_OK)
        status = write_object(builder, LKS_DESCRIPTOR_NAME, &buf, error);
    if (status == LKS_OK)
        status =
            lks_manifest_genesis(&builder->descriptor, &builder->head, error);
    lks_buf_done(&buf);
    return status;
}

void stream_builder_done(struct stream_builder *builder)
{
    lks_manifest_free(builder->next);
    lks_manifest_free(builder->head);
}

/* ------------------------------------------------------------- slices -- */

size_t stream_shape_slice_size(const struct stream_shape *shape,
                               uint64_t seq,
                               uint32_t index)
{
    if (shape->spread == 0)
        return shape->size;
    return shape->size + (size_t)(seq * 7 + index * 13) % shape->spread;
}

static uint8_t slice_byte(uint64_t seq, uint32_t index, size_t at)
{
    return (uint8_t)(seq * 31 + index * 17 + at / 8);
}

bool stream_shape_is_slice(const struct stream_shape *shape,
                           uint64_t seq,
                           uint32_t index,
                           const void *data,
                           size_t size)
{
    const uint8_t *bytes = data;

    if (size != stream_shape_slice_size(shape, seq, index))
        return false;
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != slice_byte(seq, index, i))
            return false;
    }
    return true;
}

/* ---------------------------------------------------------------- TGBs -- */

void stream_builder_name(uint64_t seq, char name[LKS_NAME_SIZE])
{
    lks_data_name(PRODUCER, EPOCH, lks_owner_tag(owner), seq, name);
}

static enum lks_status pack(enum lks_codec codec,
                            const uint8_t *raw,
                            struct lks_frame *frame,
                            uint8_t **out_packed,
                            struct lks_error *error)
{
    size_t bound = lks_codec_bound(codec, (size_t)frame->raw_size);
    uint8_t *packed = lks_alloc(bound);
    size_t size;
    enum lks_status status;

    if (packed == NULL)
        return lks_error_no_memory(error);
    status = lks_codec_pack(codec, 3, raw, (size_t)frame->raw_size, packed,
                            bound, &size, error);
    if (status != LKS_OK) {
        lks_free(packed);
        return status;
    }
    frame->codec = codec;
    frame->stored_size = size;
    *out_packed = packed;
    return LKS_OK;
}

/* Appends the frame of a slice to the object. */
static enum lks_status append_frame(const struct stream_builder *builder,
                                    uint32_t index,
                                    struct lks_buf *object,
                                    uint64_t *out_size,
                                    struct lks_error *error)
{
    const struct stream_shape *shape = &builder->shape;
    size_t size = stream_shape_slice_size(shape, builder->seq, index);
    struct lks_frame frame = {
        .index = index,
        .seq = builder->seq,
        .raw_size = size,
        .stored_size = size,
    };
    uint8_t header[LKS_FRAME_HEADER_SIZE];
    uint8_t *raw = lks_alloc(size);
    uint8_t *packed = NULL;
    enum lks_status status = LKS_OK;

    if (raw == NULL)
        return lks_error_no_memory(error);
    for (size_t i = 0; i < size; i++)
        raw[i] = slice_byte(builder->seq, index, i);
    if (shape->codec != LKS_CODEC_NONE && !(shape->mixed && index % 2 == 1))
        status = pack(shape->codec, raw, &frame, &packed, error);
    if (status != LKS_OK)
        goto done;

    frame.payload_crc =
        lks_crc32c(packed != NULL ? packed : raw, (size_t)frame.stored_size);
    *out_size = lks_frame_size(frame.stored_size);
    lks_frame_encode(&frame, header);
    status = lks_buf_append(object, header, sizeof(header), error);
    if (status == LKS_OK)
        status = lks_buf_append(object, packed != NULL ? packed : raw,
                                (size_t)frame.stored_size, error);
    if (status == LKS_OK)
        status = lks_buf_append_zero(object,
                                     (size_t)(*out_size - sizeof(header) -
                                              frame.stored_size),
                                     error);

done:
    lks_free(packed);
    lks_free(raw);
    return status;
}

/* Appends the footer, and says in the entry what there is. */
static enum lks_status append_footer(const struct stream_builder *builder,
                                     const uint64_t *frames,
                                     uint32_t count,
                                     struct lks_buf *object,
                                     struct lks_entry *entry,
                                     struct lks_error *error)
{
    struct lks_footer footer = {
        .dp = builder->descriptor.dp,
        .cp = builder->descriptor.cp,
        .producer = PRODUCER,
        .epoch = EPOCH,
        .seq = builder->seq,
        .frames = frames,
        .raw_max = entry->raw_max,
    };
    size_t frames_size = object->size;
    char meta[64];
    enum lks_status status;

    memcpy(footer.stream, builder->descriptor.stream, LKS_ID_SIZE);
    memcpy(footer.owner, owner, LKS_ID_SIZE);
    footer.meta_size = (size_t)snprintf(meta, sizeof(meta), "meta of %llu",
                                        (unsigned long long)builder->seq);
    footer.meta = meta;
    status = lks_footer_encode(&footer, frames_size, object, error);
    if (status != LKS_OK)
        return status;
    entry->size = object->size;
    entry->footer_size = (uint32_t)(object->size - frames_size);
    entry->footer_crc =
        lks_crc32c(object->data + frames_size, entry->footer_size);
    entry->table.kind = lks_table_kind_of(frames, count);
    entry->table.count = count;
    entry->table.uniform = frames[0];
    entry->table.frames = frames;
    return LKS_OK;
}

static uint64_t raw_max(const struct stream_builder *builder, uint32_t count)
{
    uint64_t most = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint64_t size =
            stream_shape_slice_size(&builder->shape, builder->seq, i);

        most = size > most ? size : most;
    }
    return builder->shape.codec == LKS_CODEC_NONE ? 0 : most;
}

/* ----------------------------------------------------------- manifests -- */

/* Makes builder->next a manifest that takes another entry. */
static enum lks_status open_next(struct stream_builder *builder,
                                 struct lks_error *error)
{
    struct lks_producer_record record = {
        .id = PRODUCER,
        .epoch = EPOCH,
        .host = "test",
        .pid = 1,
    };
    enum lks_status status;

    if (builder->next != NULL && lks_manifest_tail_is_full(builder->next)) {
        status = stream_builder_commit(builder, error);
        if (status != LKS_OK)
            return status;
    }
    if (builder->next != NULL)
        return LKS_OK;
    status = lks_manifest_copy(builder->head, &builder->next, error);
    if (status != LKS_OK)
        return status;
    lks_manifest_advance(builder->next);
    if (lks_manifest_producer_count(builder->next) > 0)
        return LKS_OK;
    memcpy(record.owner, owner, LKS_ID_SIZE);
    return lks_manifest_put_producer(builder->next, &record, error);
}

enum lks_status stream_builder_append(struct stream_builder *builder,
                                      struct lks_error *error)
{
    uint32_t count = builder->descriptor.dp * builder->descriptor.cp;
    uint64_t *frames = lks_alloc_zero(count, sizeof(*frames));
    struct lks_entry entry = {
        .producer = PRODUCER,
        .epoch = EPOCH,
        .owner_tag = lks_owner_tag(owner),
        .seq = builder->seq,
        .raw_max = raw_max(builder, count),
    };
    char name[LKS_NAME_SIZE];
    struct lks_buf object;
    enum lks_status status = LKS_OK;

    lks_buf_init(&object, OBJECT_SIZE_MAX);
    for (uint32_t i = 0; i < count && status == LKS_OK; i++)
        status = append_frame(builder, i, &object, &frames[i], error);
    if (status == LKS_OK)
        status = append_footer(builder, frames, count, &object, &entry, error);
    if (status != LKS_OK)
        goto done;
    stream_builder_name(builder->seq, name);
    status = write_object(builder, name, &object, error);
    if (status == LKS_OK)
        status = open_next(builder, error);
    if (status == LKS_OK)
        status = lks_manifest_append(builder->next, &entry, NULL, 0, error);
    if (status == LKS_OK)
        builder->seq++;

done:
    lks_buf_done(&object);
    lks_free(frames);
    return status;
}

static enum lks_status seal(struct stream_builder *builder,
                            struct lks_error *error)
{
    uint64_t last = lks_manifest_next_step(builder->head) - 1;
    char name[LKS_NAME_SIZE];
    struct lks_buf buf;
    enum lks_status status;

    lks_buf_init(&buf, LKS_INDEX_SIZE_MAX);
    lks_index_name(last / LKS_BLOCK_STEPS, name);
    status = lks_index_encode(builder->head, &buf, error);
    if (status == LKS_OK)
        status = write_object(builder, name, &buf, error);
    lks_buf_done(&buf);
    return status;
}

enum lks_status stream_builder_commit(struct stream_builder *builder,
                                      struct lks_error *error)
{
    char name[LKS_NAME_SIZE];
    struct lks_buf buf;
    enum lks_status status;

    if (builder->next == NULL)
        return LKS_OK;
    lks_buf_init(&buf, LKS_MANIFEST_SIZE_MAX);
    lks_manifest_name(builder->descriptor.stream,
                      lks_manifest_version(builder->next), name);
    status = lks_manifest_encode(builder->next, &buf, error);
    if (status == LKS_OK)
        status = write_object(builder, name, &buf, error);
    lks_buf_done(&buf);
    if (status != LKS_OK)
        return status;
    lks_manifest_free(builder->head);
    builder->head = builder->next;
    builder->next = NULL;
    return lks_manifest_tail_is_full(builder->head) ? seal(builder, error)
                                                    : LKS_OK;
}

enum lks_status stream_builder_add(struct stream_builder *builder,
                                   uint64_t count,
                                   uint64_t per_version,
                                   struct lks_error *error)
{
    enum lks_status status = LKS_OK;

    for (uint64_t i = 1; i <= count && status == LKS_OK; i++) {
        status = stream_builder_append(builder, error);
        if (status == LKS_OK && (i % per_version == 0 || i == count))
            status = stream_builder_commit(builder, error);
    }
    return status;
}

enum lks_status stream_builder_end(struct stream_builder *builder,
                                   struct lks_error *error)
{
    enum lks_status status = stream_builder_commit(builder, error);

    if (status != LKS_OK)
        return status;
    status = lks_manifest_copy(builder->head, &builder->next, error);
    if (status != LKS_OK)
        return status;
    lks_manifest_advance(builder->next);
    lks_manifest_end(builder->next);
    return stream_builder_commit(builder, error);
}
