/*
 * Manifests to test with, and how to make changed bytes look right again.
 */
#ifndef LKS_TESTS_SUPPORT_FORMAT_FIXTURE_H
#define LKS_TESTS_SUPPORT_FORMAT_FIXTURE_H

#include <stdio.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "format/manifest.h"
#include "support/check.h"

#define FIXTURE_SLICES 2u
#define FIXTURE_FOOTER 96u

static const uint8_t fixture_stream[LKS_ID_SIZE] = {0,  1,  2,  3, 4,  5,
                                                    6,  7,  8,  9, 10, 11,
                                                    12, 13, 14, 15};

static inline struct lks_descriptor fixture_descriptor(void)
{
    struct lks_descriptor descriptor = {
        .format = LKS_FORMAT_VERSION,
        .dp = FIXTURE_SLICES,
        .cp = 1,
        .producers_to_end = 1,
    };

    memcpy(descriptor.stream, fixture_stream, LKS_ID_SIZE);
    return descriptor;
}

static inline struct lks_manifest *fixture_genesis(uint64_t first_step)
{
    struct lks_descriptor descriptor = fixture_descriptor();
    struct lks_manifest *manifest;
    struct lks_error error;

    descriptor.first_step = first_step;
    assert_status(LKS_OK, lks_manifest_genesis(&descriptor, &manifest, &error));
    return manifest;
}

/* A record of producer `id`, whose owner begins with the epoch. */
static inline struct lks_producer_record fixture_record(const char *id,
                                                        uint64_t epoch)
{
    struct lks_producer_record record = {
        .id = id,
        .epoch = epoch,
        .owner = {(uint8_t)epoch, 0xbe, 0xef},
        .host = "node-1",
        .pid = 4242,
        .version = 1,
    };

    return record;
}

static inline void fixture_put(struct lks_manifest *manifest,
                               const char *id,
                               uint64_t epoch)
{
    struct lks_producer_record record = fixture_record(id, epoch);
    struct lks_error error;

    assert_status(LKS_OK, lks_manifest_put_producer(manifest, &record, &error));
}

/* The next entry of producer `id`, whose slices all have `frame` bytes. */
static inline struct lks_entry fixture_entry(
    const struct lks_manifest *manifest, const char *id, uint64_t frame)
{
    struct lks_producer_record record;
    struct lks_entry entry = {
        .producer = id,
        .size = FIXTURE_SLICES * frame + FIXTURE_FOOTER,
        .footer_crc = 0x12345678,
        .footer_size = FIXTURE_FOOTER,
        .table = {.kind = LKS_TABLE_UNIFORM,
                  .count = FIXTURE_SLICES,
                  .uniform = frame},
    };

    assert_true(lks_manifest_find_producer(manifest, id, &record));
    entry.epoch = record.epoch;
    entry.owner_tag = lks_owner_tag(record.owner);
    entry.seq = record.next_seq;
    return entry;
}

static inline void fixture_append(struct lks_manifest *manifest, const char *id)
{
    struct lks_entry entry = fixture_entry(manifest, id, 128);
    struct lks_error error;
    char offset[32];
    int size;

    size = snprintf(offset, sizeof(offset), "offset %d", (int)entry.seq);
    assert_status(LKS_OK, lks_manifest_append(manifest, &entry, offset,
                                              (size_t)size, &error));
}

/* Producers p000, p001, ... that have appended `steps` steps in turns, each in
 * a version of its own. */
static inline struct lks_manifest *fixture_manifest(uint32_t producers,
                                                    uint32_t steps)
{
    struct lks_manifest *manifest = fixture_genesis(0);
    char id[16];

    lks_manifest_advance(manifest);
    for (uint32_t i = 0; i < producers; i++) {
        snprintf(id, sizeof(id), "p%03u", i);
        fixture_put(manifest, id, 1);
    }
    for (uint32_t i = 0; i < steps; i++) {
        lks_manifest_advance(manifest);
        snprintf(id, sizeof(id), "p%03u", i % producers);
        fixture_append(manifest, id);
    }
    return manifest;
}

static inline struct lks_buf fixture_encoded(
    const struct lks_manifest *manifest)
{
    struct lks_error error;
    struct lks_buf buf;

    lks_buf_init(&buf, LKS_MANIFEST_SIZE_MAX);
    assert_status(LKS_OK, lks_manifest_encode(manifest, &buf, &error));
    return buf;
}

/* Makes an object of two sections vouch for whatever it holds now. */
static inline void fixture_repair_sections(uint8_t *bytes)
{
    uint32_t head_size = lks_get_u32(bytes + 12);
    uint32_t control_size = lks_get_u32(bytes + 20);

    lks_put_u32(bytes + 16, lks_crc32c(bytes + 64, head_size));
    lks_put_u32(bytes + 24, lks_crc32c(bytes + 64 + head_size, control_size));
    lks_put_u32(bytes + 60, lks_crc32c(bytes, 60));
}

/* A small generator for reproducible nonsense. */
static inline uint32_t fixture_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(*state >> 32);
}

/* Changes a few of the bytes, adds some or drops some, at most 8 more than
 * there were; returns how many there are then. Small numbers are the likeliest:
 * they make wrong lengths, keys and counts that a parser believes. */
static inline size_t fixture_mutate(uint8_t *bytes,
                                    size_t size,
                                    uint64_t *random)
{
    uint32_t changes = 1 + fixture_random(random) % 4;

    for (uint32_t i = 0; i < changes; i++) {
        size_t place = size == 0 ? 0 : fixture_random(random) % size;
        uint32_t run = 1 + fixture_random(random) % 2;
        uint32_t value = fixture_random(random);

        if (value % 2 == 0)
            value = value >> 8 & 0x1f;
        switch (fixture_random(random) % 4) {
        case 0:
            memmove(bytes + place + run, bytes + place, size - place);
            memset(bytes + place, (int)(value & 0xff), run);
            size += run;
            break;
        case 1:
            if (size - place < run)
                break;
            memmove(bytes + place, bytes + place + run, size - place - run);
            size -= run;
            break;
        case 2:
            if (size > 0)
                bytes[place] ^= (uint8_t)(1 << value % 8);
            break;
        default:
            if (size > 0)
                bytes[place] = (uint8_t)value;
        }
    }
    return size;
}

/* Seeds come from LKS_SEED in the environment, else are fixed: a failure must
 * come again. */
static inline uint64_t fixture_seed(void)
{
    const char *text = getenv("LKS_SEED");
    uint64_t seed = 1;

    if (text != NULL)
        assert_true(lks_parse_u64(text, &seed));
    return seed;
}

#endif
