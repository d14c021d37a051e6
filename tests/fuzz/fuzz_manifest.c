/*
 * Fuzzes manifests: whole ones, and their first bytes as followers read them.
 *
 * What is taken must bear everything that is then done with a manifest: every
 * look at it, the next commit on it, and being written and read again.
 */
#include <inttypes.h>

#include "format/lifecycle.h"
#include "fuzz.h"

#define HEAD_ONLY 2u
#define SLICE_COUNT 4u

static void look_at_producers(const struct lks_manifest *manifest)
{
    uint32_t count = lks_manifest_producer_count(manifest);
    struct lks_producer_record record;
    struct lks_producer_record again;
    uint32_t place;

    for (uint32_t i = 0; i < count; i++) {
        lks_manifest_producer(manifest, i, &record);
        FUZZ_CHECK(lks_id_is_valid(record.id));
        FUZZ_CHECK(record.offset_size <= LKS_OFFSET_SIZE_MAX);
        FUZZ_CHECK(lks_manifest_find_producer(manifest, record.id, &again));
        FUZZ_CHECK(again.id == record.id);
        FUZZ_CHECK(lks_manifest_find_place(manifest, record.id, &place));
        FUZZ_CHECK(place == i);
    }
    FUZZ_CHECK(lks_manifest_active_count(manifest, UINT64_MAX) <= count);
}

static void look_at_groups(const struct lks_manifest *manifest)
{
    struct lks_group_record group;
    struct lks_pin_record pin;

    for (uint32_t i = 0; i < lks_manifest_group_count(manifest); i++) {
        lks_manifest_group(manifest, i, &group);
        FUZZ_CHECK(lks_manifest_find_group(manifest, group.name, &group));
        FUZZ_CHECK(lks_id_is_valid(group.run.id));
        lks_manifest_run_is_former(manifest, group.name, "run");
        for (size_t k = 0; k < group.evicted_count; k++)
            FUZZ_CHECK(lks_group_rank_is_evicted(&group, group.evicted[k]));
    }
    for (uint32_t i = 0; i < lks_manifest_pin_count(manifest); i++) {
        lks_manifest_pin(manifest, i, &pin);
        FUZZ_CHECK(lks_manifest_find_pin(manifest, pin.name, &pin));
    }
}

static void look_at_steps(const struct lks_manifest *manifest)
{
    uint64_t first = lks_manifest_tail_first(manifest);
    uint64_t next = lks_manifest_next_step(manifest);
    struct lks_entry entry;
    uint64_t offset;
    uint64_t size;

    FUZZ_CHECK(first <= next && next - first <= LKS_BLOCK_STEPS);
    FUZZ_CHECK(lks_manifest_first_live_step(manifest) <= next);
    FUZZ_CHECK(lks_manifest_live_bytes(manifest) <=
               lks_manifest_total_bytes(manifest));
    for (uint64_t step = first; step < next; step++) {
        lks_manifest_entry(manifest, step, SLICE_COUNT, &entry);
        FUZZ_CHECK(entry.step == step);
        FUZZ_CHECK(lks_id_is_valid(entry.producer));
        FUZZ_CHECK(entry.version <= lks_manifest_version(manifest));
        if (entry.table.kind == LKS_TABLE_FOOTER)
            continue;
        lks_table_range(&entry.table, 0, SLICE_COUNT, &offset, &size);
        FUZZ_CHECK(offset == 0 && size + entry.footer_size == entry.size);
    }
    lks_manifest_is_full(manifest);
    lks_manifest_ended(manifest);
    lks_manifest_dropped(manifest);
}

/* Writing what was read, and reading that, changes nothing any more. */
static void round_trip(const struct lks_manifest *manifest)
{
    const uint8_t *stream = lks_manifest_stream(manifest);
    uint64_t version = lks_manifest_version(manifest);
    struct lks_manifest *again = NULL;
    struct lks_error error;
    struct lks_buf first;
    struct lks_buf second;

    lks_buf_init(&first, LKS_MANIFEST_SIZE_MAX);
    lks_buf_init(&second, LKS_MANIFEST_SIZE_MAX);
    /* What is unusually encoded may grow, past the limit even. */
    if (lks_manifest_encode(manifest, &first, &error) == LKS_OK) {
        FUZZ_CHECK(lks_manifest_decode(first.data, first.size, stream, version,
                                       &again, &error) == LKS_OK);
        FUZZ_CHECK(lks_manifest_encode(again, &second, &error) == LKS_OK);
        FUZZ_CHECK(first.size == second.size &&
                   memcmp(first.data, second.data, first.size) == 0);
    }
    lks_manifest_free(again);
    lks_buf_done(&first);
    lks_buf_done(&second);
}

/* What a producer does that commits on it. */
static void commit(const struct lks_manifest *manifest)
{
    struct lks_producer_record record = {.id = "fuzz", .host = "host"};
    struct lks_manifest *next = NULL;
    struct lks_error error;
    struct lks_entry entry = {
        .producer = "fuzz",
        .size = SLICE_COUNT * 64 + 96,
        .footer_size = 96,
        .table = {LKS_TABLE_UNIFORM, SLICE_COUNT, 64, NULL},
    };

    FUZZ_CHECK(lks_manifest_copy(manifest, &next, &error) == LKS_OK);
    if (lks_manifest_version(next) == UINT64_MAX || lks_manifest_ended(next))
        goto done;
    lks_manifest_advance(next);
    if (lks_manifest_find_producer(next, "fuzz", &record)) {
        entry.seq = record.next_seq;
        entry.epoch = record.epoch;
        entry.owner_tag = lks_owner_tag(record.owner);
    } else if (lks_manifest_put_producer(next, &record, &error) != LKS_OK) {
        goto done;
    }
    if (lks_manifest_append(next, &entry, "at", 2, &error) == LKS_OK)
        round_trip(next);
    lks_manifest_end_if_complete(next);

done:
    lks_manifest_free(next);
}

/* What joins, pins and turns change, on whatever is there already. */
static void live(const struct lks_manifest *manifest)
{
    static struct lks_ring_place places[LKS_PRODUCERS_MAX];
    const struct lks_run run = {.id = "run", .attempt = 1, .ranks = 4};
    struct lks_ring ring = {.places = places};
    struct lks_manifest *next = NULL;
    struct lks_error error;

    FUZZ_CHECK(lks_manifest_copy(manifest, &next, &error) == LKS_OK);
    if (lks_manifest_version(next) == UINT64_MAX)
        goto done;
    lks_manifest_advance(next);
    lks_manifest_read_ring(next, &ring);
    FUZZ_CHECK(ring.count == lks_manifest_producer_count(next));
    FUZZ_CHECK(ring.last == UINT32_MAX || ring.last < ring.count);
    FUZZ_CHECK(lks_manifest_write_ring(next, &ring, &error) == LKS_OK);
    if (lks_manifest_put_run(next, "fuzz", &run, &error) == LKS_OK) {
        FUZZ_CHECK(lks_manifest_evict_rank(next, "fuzz", 3, &error) == LKS_OK);
        lks_manifest_set_floor(next, "fuzz", 1);
    }
    if (lks_manifest_put_pin(next, "fuzz", 1, &error) == LKS_OK)
        FUZZ_CHECK(lks_manifest_put_pin(next, "fuzz", 2, &error) == LKS_OK);
    round_trip(next);
    if (lks_manifest_group_count(next) > 0) {
        struct lks_group_record group;

        lks_manifest_group(next, 0, &group);
        lks_manifest_remove_group(next, group.name);
    }
    round_trip(next);

done:
    lks_manifest_free(next);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size};
    uint8_t flags = fuzz_byte(&input);
    uint8_t *bytes = fuzz_copy(input.at, input.left);
    uint8_t stream[LKS_ID_SIZE] = {0};
    struct lks_manifest *manifest = NULL;
    struct lks_error error = {0};
    enum lks_status status;
    uint64_t version = 1;
    size_t needed = 0;

    if (flags & FUZZ_REPAIR)
        fuzz_repair_sections(bytes, input.left);
    if (input.left >= 64) {
        memcpy(stream, bytes + 28, LKS_ID_SIZE);
        version = lks_get_u64(bytes + 44);
    }
    if (flags & HEAD_ONLY)
        status = lks_manifest_decode_head(bytes, input.left, stream, version,
                                          &manifest, &needed, &error);
    else
        status = lks_manifest_decode(bytes, input.left, stream, version,
                                     &manifest, &error);
    fuzz_check_answer(status, &error);
    FUZZ_CHECK(status == LKS_OK || manifest == NULL);
    if (status == LKS_OK && needed > 0) {
        FUZZ_CHECK(manifest == NULL);
        FUZZ_CHECK(needed > input.left && needed <= LKS_MANIFEST_SIZE_MAX);
    } else if (status == LKS_OK) {
        look_at_steps(manifest);
        look_at_producers(manifest);
        look_at_groups(manifest);
        if ((flags & HEAD_ONLY) == 0) {
            round_trip(manifest);
            commit(manifest);
            live(manifest);
        }
    }
    lks_manifest_free(manifest);
    free(bytes);
    return 0;
}
