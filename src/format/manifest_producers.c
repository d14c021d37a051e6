/*
 * Putting producers into the map, which stays small and sorted.
 *
 * A record is built whole before it takes the place of the old one, so that a
 * failure changes nothing.
 */
#include "format/manifest.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/env.h"
#include "format/manifest_inside.h"

size_t lks_manifest_record_size(const Lks__Producer *producer)
{
    size_t size = lks__producer__get_packed_size(producer);
    size_t prefix = 2;

    for (size_t rest = size; rest >= 0x80; rest >>= 7)
        prefix++;
    return prefix + size;
}

static size_t map_size(const Lks__ManifestControl *control)
{
    size_t size = 0;

    for (size_t i = 0; i < control->n_producers; i++)
        size += lks_manifest_record_size(control->producers[i]);
    return size;
}

/* The bound spares counting 1,000 producers at every commit. */
enum lks_status lks_manifest_check_map(struct lks_manifest *manifest,
                                       const char *id,
                                       size_t before,
                                       size_t after,
                                       struct lks_error *error)
{
    if (after <= before ||
        manifest->map_bound + (after - before) <= LKS_PRODUCERS_SIZE_MAX)
        return LKS_OK;
    manifest->map_bound = map_size(manifest->control);
    if (manifest->map_bound + (after - before) <= LKS_PRODUCERS_SIZE_MAX)
        return LKS_OK;
    return lks_error_set(error, LKS_INVALID,
                         "producer %s would take the stream's map of "
                         "producers past %u bytes: use stable ids, and "
                         "shorter offsets",
                         id, LKS_PRODUCERS_SIZE_MAX);
}

void lks_manifest_count_map(struct lks_manifest *manifest,
                            size_t before,
                            size_t after)
{
    manifest->map_bound += after;
    manifest->map_bound -= before;
}

enum lks_status lks_manifest_check_offset(size_t size, struct lks_error *error)
{
    if (size <= LKS_OFFSET_SIZE_MAX)
        return LKS_OK;
    return lks_error_set(error, LKS_INVALID,
                         "an offset of %zu bytes is too long; it can have %u",
                         size, LKS_OFFSET_SIZE_MAX);
}

/* A host's name goes into messages to people: whatever it is, it becomes
 * printable and short. */
static char *host_dup(const char *host)
{
    char plain[LKS_HOST_SIZE];
    size_t size = host == NULL ? 0 : strnlen(host, sizeof(plain) - 1);

    for (size_t i = 0; i < size; i++)
        plain[i] = lks_text_is_plain(host + i, 1) ? host[i] : '?';
    plain[size] = '\0';
    return lks_text_dup(plain);
}

static bool bytes_dup(const void *data, size_t size, ProtobufCBinaryData *out)
{
    out->len = 0;
    out->data = NULL;
    if (size == 0)
        return true;
    out->data = lks_memory_dup(data, size);
    if (out->data == NULL)
        return false;
    out->len = size;
    return true;
}

/* A message of its own from a record; NULL when memory is out. */
static Lks__Producer *producer_new(const struct lks_producer_record *record)
{
    Lks__Producer *producer = lks_alloc(sizeof(*producer));

    if (producer == NULL)
        return NULL;
    lks__producer__init(producer);
    producer->id = lks_text_dup(record->id);
    producer->host = host_dup(record->host);
    if (producer->id == NULL || producer->host == NULL ||
        !bytes_dup(record->owner, LKS_ID_SIZE, &producer->owner) ||
        !bytes_dup(record->offset, record->offset_size, &producer->offset)) {
        lks_message_free(&producer->base);
        return NULL;
    }
    producer->epoch = record->epoch;
    producer->pid = record->pid;
    producer->next_seq = record->next_seq;
    producer->finished = record->finished;
    producer->version = record->version;
    return producer;
}

/* Moves what a record does not speak of: the place in the ring, and what only
 * a newer library knows. The id's text stays too, since callers borrow it. */
static void inherit(Lks__Producer *producer, Lks__Producer *old)
{
    char *id = producer->id;

    producer->id = old->id;
    old->id = id;
    producer->in_ring = old->in_ring;
    producer->misses = old->misses;
    producer->slowness_permille = old->slowness_permille;
    producer->base.n_unknown_fields = old->base.n_unknown_fields;
    producer->base.unknown_fields = old->base.unknown_fields;
    old->base.n_unknown_fields = 0;
    old->base.unknown_fields = NULL;
}

static void insert(Lks__ManifestControl *control,
                   size_t place,
                   Lks__Producer *producer)
{
    memmove(&control->producers[place + 1], &control->producers[place],
            (control->n_producers - place) * sizeof(Lks__Producer *));
    control->producers[place] = producer;
    control->n_producers++;
}

static enum lks_status add_producer(struct lks_manifest *manifest,
                                    size_t place,
                                    Lks__Producer *producer,
                                    struct lks_error *error)
{
    Lks__ManifestControl *control = manifest->control;
    size_t size = lks_manifest_record_size(producer);
    enum lks_status status;
    void *grown;

    if (control->n_producers >= LKS_PRODUCERS_MAX)
        return lks_error_set(error, LKS_INVALID,
                             "producer %s would be one more than the %u that "
                             "a stream takes in its life: use stable ids",
                             producer->id, LKS_PRODUCERS_MAX);
    status = lks_manifest_check_map(manifest, producer->id, 0, size, error);
    if (status != LKS_OK)
        return status;
    grown = lks_manifest_grow(control->producers, control->n_producers,
                              &manifest->producer_capacity);
    if (grown == NULL)
        return lks_error_no_memory(error);
    control->producers = grown;
    lks_manifest_count_map(manifest, 0, size);
    insert(control, place, producer);
    return LKS_OK;
}

static enum lks_status replace_producer(struct lks_manifest *manifest,
                                        size_t place,
                                        Lks__Producer *producer,
                                        struct lks_error *error)
{
    Lks__Producer *old = manifest->control->producers[place];
    size_t before = lks_manifest_record_size(old);
    enum lks_status status;
    size_t after;

    inherit(producer, old);
    after = lks_manifest_record_size(producer);
    status =
        lks_manifest_check_map(manifest, producer->id, before, after, error);
    if (status != LKS_OK) {
        inherit(old, producer);
        return status;
    }
    lks_manifest_count_map(manifest, before, after);
    manifest->control->producers[place] = producer;
    lks_message_free(&old->base);
    return LKS_OK;
}

enum lks_status lks_manifest_put_producer(
    struct lks_manifest *manifest,
    const struct lks_producer_record *record,
    struct lks_error *error)
{
    Lks__ManifestControl *control = manifest->control;
    Lks__Producer *producer;
    enum lks_status status;
    size_t place;

    assert(control != NULL);

    status = lks_id_check("producer id", record->id, error);
    if (status == LKS_OK)
        status = lks_manifest_check_offset(record->offset_size, error);
    if (status != LKS_OK)
        return status;
    producer = producer_new(record);
    if (producer == NULL)
        return lks_error_no_memory(error);

    if (lks_producers_find(control->producers, control->n_producers, record->id,
                           &place))
        status = replace_producer(manifest, place, producer, error);
    else
        status = add_producer(manifest, place, producer, error);
    if (status != LKS_OK)
        lks_message_free(&producer->base);
    return status;
}
