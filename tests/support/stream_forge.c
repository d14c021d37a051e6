/*
 * Making streams by hand, and spoiling them.
 */
#include "support/stream_forge.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/crc32c.h"
#include "format/index.h"

#define OBJECT_SIZE_MAX (256u << 20)

static void producer_id(uint32_t producer, char id[8])
{
    snprintf(id, 8, "p%" PRIu32, producer);
}

static void producer_owner(uint32_t producer,
                           uint64_t epoch,
                           uint8_t owner[LKS_ID_SIZE])
{
    memset(owner, 0, LKS_ID_SIZE);
    owner[0] = (uint8_t)(producer + 1);
    owner[3] = (uint8_t)epoch;
    owner[15] = 7;
}

static void make(struct forge *forge,
                 struct lks_descriptor *descriptor,
                 uint32_t producers)
{
    struct lks_error error;

    assert_true(producers <= FORGE_PRODUCERS);
    memset(forge, 0, sizeof(*forge));
    forge->slice_size = 100;
    forge->store = faulty_store_new_mem(lks_env_real(), NULL, NULL);
    descriptor->producers_to_end = producers > 0 ? producers : 1;
    assert_status(LKS_OK, lks_stream_make(&forge->store->base, descriptor,
                                          &forge->stream, &error));
    assert_status(LKS_OK, lks_manifest_genesis(&forge->stream->descriptor,
                                               &forge->head, &error));
    for (uint32_t i = 0; i < producers; i++)
        forge_open(forge, i);
}

void forge_init(struct forge *forge,
                uint32_t dp,
                uint32_t cp,
                uint32_t producers)
{
    struct lks_descriptor descriptor = {.dp = dp, .cp = cp};

    make(forge, &descriptor, producers);
    lks_descriptor_done(&descriptor);
}

void forge_init_fork(struct forge *forge,
                     uint64_t first_step,
                     uint32_t producers)
{
    struct lks_descriptor descriptor = {
        .dp = 1,
        .cp = 1,
        .first_step = first_step,
        .parent_url = lks_text_dup("mem://parent"),
    };

    assert_non_null(descriptor.parent_url);
    make(forge, &descriptor, producers);
    lks_descriptor_done(&descriptor);
}

void forge_done(struct forge *forge)
{
    lks_manifest_free(forge->head);
    lks_stream_close(forge->stream);
}

/* ------------------------------------------------------------- objects -- */

void forge_put(struct forge *forge,
               const char *name,
               const void *data,
               size_t size)
{
    struct lks_part part = {data, size};
    struct lks_error error;

    assert_status(LKS_OK, lks_store_put(forge->stream->store, name, &part, 1,
                                        NULL, &error));
}

static void put_buf(struct forge *forge, const char *name, struct lks_buf *buf)
{
    forge_put(forge, name, buf->data, buf->size);
    lks_buf_done(buf);
}

static void get_buf(struct forge *forge, const char *name, struct lks_buf *buf)
{
    struct lks_error error;

    lks_buf_init(buf, OBJECT_SIZE_MAX);
    assert_status(LKS_OK, lks_store_get_all(forge->stream->store, name, 4096,
                                            buf, NULL, &error));
}

void forge_flip(struct forge *forge, const char *name, int64_t at)
{
    struct lks_buf buf;

    get_buf(forge, name, &buf);
    buf.data[at < 0 ? (int64_t)buf.size + at : at] ^= 0x10;
    put_buf(forge, name, &buf);
}

void forge_remove(struct forge *forge, const char *name)
{
    struct lks_error error;

    assert_status(LKS_OK,
                  lks_store_stat(forge->stream->store, name, NULL, &error));
    assert_status(LKS_OK, lks_store_remove(forge->stream->store, &name, 1, NULL,
                                           &error));
}

void forge_copy(struct forge *forge, const char *from, const char *to)
{
    struct lks_buf buf;

    get_buf(forge, from, &buf);
    put_buf(forge, to, &buf);
}

void forge_resize(struct forge *forge, const char *name, int64_t by)
{
    struct lks_error error;
    struct lks_buf buf;

    get_buf(forge, name, &buf);
    if (by > 0)
        assert_status(LKS_OK, lks_buf_append_zero(&buf, (size_t)by, &error));
    else
        buf.size -= (size_t)-by;
    put_buf(forge, name, &buf);
}

void forge_manifest_name(const struct forge *forge,
                         uint64_t version,
                         char name[LKS_NAME_SIZE])
{
    lks_manifest_name(forge->stream->descriptor.stream, version, name);
}

void forge_data_name(const struct forge *forge,
                     uint32_t producer,
                     uint64_t seq,
                     char name[LKS_NAME_SIZE])
{
    struct lks_producer_record record = forge_record(forge, producer);

    lks_data_name(record.id, record.epoch, lks_owner_tag(record.owner), seq,
                  name);
}

/* ----------------------------------------------------------- manifests -- */

struct lks_producer_record forge_record(const struct forge *forge,
                                        uint32_t producer)
{
    struct lks_producer_record record;
    char id[8];

    producer_id(producer, id);
    assert_true(lks_manifest_find_producer(forge->head, id, &record));
    return record;
}

struct lks_manifest *forge_save(const struct forge *forge)
{
    struct lks_manifest *saved = NULL;
    struct lks_error error;

    assert_status(LKS_OK, lks_manifest_copy(forge->head, &saved, &error));
    return saved;
}

void forge_restore(struct forge *forge, struct lks_manifest *saved)
{
    lks_manifest_free(forge->head);
    forge->head = saved;
}

struct lks_manifest *forge_next(struct forge *forge)
{
    struct lks_manifest *next = NULL;
    struct lks_error error;

    assert_status(LKS_OK, lks_manifest_copy(forge->head, &next, &error));
    lks_manifest_advance(next);
    return next;
}

static void seal(struct forge *forge)
{
    struct lks_error error;
    char name[LKS_NAME_SIZE];
    struct lks_buf buf;

    lks_index_name(lks_manifest_tail_first(forge->head) / LKS_BLOCK_STEPS,
                   name);
    lks_buf_init(&buf, LKS_INDEX_SIZE_MAX);
    assert_status(LKS_OK, lks_index_encode(forge->head, &buf, &error));
    put_buf(forge, name, &buf);
}

void forge_commit(struct forge *forge, struct lks_manifest *next)
{
    struct lks_error error;
    char name[LKS_NAME_SIZE];
    struct lks_buf buf;

    forge_manifest_name(forge, lks_manifest_version(next), name);
    lks_buf_init(&buf, LKS_MANIFEST_SIZE_MAX);
    assert_status(LKS_OK, lks_manifest_encode(next, &buf, &error));
    put_buf(forge, name, &buf);
    lks_manifest_free(forge->head);
    forge->head = next;
    if (lks_manifest_tail_is_full(next))
        seal(forge);
}

static void put_record(struct forge *forge,
                       uint32_t producer,
                       uint64_t epochs,
                       bool finish)
{
    struct lks_manifest *next = forge_next(forge);
    struct lks_producer_record record = {.host = "test", .pid = 1};
    struct lks_error error;
    char id[8];

    producer_id(producer, id);
    if (!lks_manifest_find_producer(next, id, &record))
        record.id = id;
    record.epoch += epochs;
    if (!finish)
        producer_owner(producer, record.epoch, record.owner);
    record.finished = record.finished || finish;
    record.version = lks_manifest_version(next);
    assert_status(LKS_OK, lks_manifest_put_producer(next, &record, &error));
    if (finish)
        lks_manifest_end_if_complete(next);
    forge_commit(forge, next);
}

void forge_open(struct forge *forge, uint32_t producer)
{
    put_record(forge, producer, 1, false);
}

void forge_finish(struct forge *forge, uint32_t producer)
{
    put_record(forge, producer, 1, true);
}

/* ---------------------------------------------------------------- TGBs -- */

static uint64_t append_frame(const struct forge *forge,
                             struct lks_buf *object,
                             uint32_t index,
                             uint64_t seq,
                             uint64_t *raw_max)
{
    size_t size = forge->slice_size + (forge->uneven ? 64 * index : 0);
    struct lks_frame frame = {
        .codec = forge->codec,
        .index = index,
        .seq = seq,
        .raw_size = size,
        .stored_size = size,
    };
    uint8_t header[LKS_FRAME_HEADER_SIZE];
    uint8_t *raw = lks_alloc_zero(1, size);
    uint8_t *stored = raw;
    struct lks_error error;
    uint64_t frame_size;

    assert_non_null(raw);
    for (size_t i = 0; i < size; i++)
        raw[i] = (uint8_t)(seq + index + i / 16);
    if (forge->codec != LKS_CODEC_NONE) {
        size_t bound = lks_codec_bound(forge->codec, size);

        stored = lks_alloc(bound);
        assert_non_null(stored);
        assert_status(LKS_OK, lks_codec_pack(forge->codec, 3, raw, size, stored,
                                             bound, &size, &error));
        frame.stored_size = size;
        *raw_max = frame.raw_size > *raw_max ? frame.raw_size : *raw_max;
    }
    frame.payload_crc = lks_crc32c(stored, size);
    frame_size = lks_frame_size(size);
    lks_frame_encode(&frame, header);
    assert_status(LKS_OK,
                  lks_buf_append(object, header, sizeof(header), &error));
    assert_status(LKS_OK, lks_buf_append(object, stored, size, &error));
    assert_status(LKS_OK,
                  lks_buf_append_zero(object,
                                      frame_size - sizeof(header) - size,
                                      &error));
    if (stored != raw)
        lks_free(stored);
    lks_free(raw);
    return frame_size;
}

static void offset_of(uint32_t producer, uint64_t seq, char offset[32])
{
    snprintf(offset, 32, "%" PRIu32 "@%" PRIu64, producer, seq);
}

void forge_add(struct forge *forge,
               struct lks_manifest *next,
               uint32_t producer)
{
    uint32_t count = forge->stream->slice_count;
    uint64_t *frames = lks_alloc_zero(count, sizeof(*frames));
    struct lks_producer_record record;
    struct lks_footer footer = {.frames = frames};
    struct lks_entry entry = {.table.count = count};
    char name[LKS_NAME_SIZE];
    char offset[32];
    struct lks_error error;
    struct lks_buf object;
    size_t frames_size;
    char id[8];

    producer_id(producer, id);
    assert_true(lks_manifest_find_producer(next, id, &record));
    lks_buf_init(&object, OBJECT_SIZE_MAX);
    for (uint32_t i = 0; i < count; i++)
        frames[i] =
            append_frame(forge, &object, i, record.next_seq, &footer.raw_max);
    offset_of(producer, record.next_seq, offset);

    memcpy(footer.stream, forge->stream->descriptor.stream, LKS_ID_SIZE);
    footer.dp = forge->stream->descriptor.dp;
    footer.cp = forge->stream->descriptor.cp;
    footer.producer = record.id;
    footer.epoch = record.epoch;
    memcpy(footer.owner, record.owner, LKS_ID_SIZE);
    footer.seq = record.next_seq;
    footer.offset_before = record.offset;
    footer.offset_before_size = record.offset_size;
    footer.offset_after = offset;
    footer.offset_after_size = strlen(offset);

    entry.producer = record.id;
    entry.epoch = record.epoch;
    entry.owner_tag = lks_owner_tag(record.owner);
    entry.seq = record.next_seq;
    entry.raw_max = footer.raw_max;
    entry.table.kind = lks_table_kind_of(frames, count);
    entry.table.uniform = frames[0];
    entry.table.frames = frames;
    if (forge->alter != NULL)
        forge->alter(&footer, &entry, forge->alter_arg);

    frames_size = object.size;
    assert_status(LKS_OK,
                  lks_footer_encode(&footer, frames_size, &object, &error));
    entry.size += object.size;
    entry.footer_size = (uint32_t)(object.size - frames_size);
    entry.footer_crc ^=
        lks_crc32c(object.data + frames_size, entry.footer_size);
    lks_data_name(entry.producer, entry.epoch, entry.owner_tag, entry.seq,
                  name);
    put_buf(forge, name, &object);
    assert_status(LKS_OK, lks_manifest_append(next, &entry, offset,
                                              strlen(offset), &error));
    lks_free(frames);
}

void forge_append(struct forge *forge, uint32_t producer, uint64_t count)
{
    struct lks_manifest *next = forge_next(forge);

    for (uint64_t i = 0; i < count; i++) {
        if (lks_manifest_tail_is_full(next)) {
            forge_commit(forge, next);
            next = forge_next(forge);
        }
        forge_add(forge, next, producer);
    }
    forge_commit(forge, next);
}

void forge_fill(struct forge *forge, uint64_t steps, uint64_t per_commit)
{
    uint32_t count = lks_manifest_producer_count(forge->head);

    for (uint32_t i = 0; lks_manifest_next_step(forge->head) < steps; i++) {
        uint64_t left = steps - lks_manifest_next_step(forge->head);

        forge_append(forge, i % count, left < per_commit ? left : per_commit);
    }
}
