/*
 * Whether a manifest may follow another: what only grows has grown, what never
 * changes is the same, and what was added is one producer's next TGBs.
 */
#include "inspect/verify.h"

#include <inttypes.h>
#include <string.h>

struct pair {
    struct lks_verify *verify;
    const struct lks_manifest *older;
    const struct lks_manifest *newer;
    uint64_t version; /* of `newer` */
};

static enum lks_status check_rises(const struct pair *pair,
                                   const char *what,
                                   uint64_t older,
                                   uint64_t newer,
                                   struct lks_error *error)
{
    if (newer >= older)
        return LKS_OK;
    return lks_report_problem(&pair->verify->report, error,
                              "manifest version %" PRIu64
                              ": %s goes back from %" PRIu64 " to %" PRIu64,
                              pair->version, what, older, newer);
}

static enum lks_status say(const struct pair *pair,
                           const char *what,
                           struct lks_error *error)
{
    return lks_report_problem(&pair->verify->report, error,
                              "manifest version %" PRIu64 ": %s", pair->version,
                              what);
}

static enum lks_status check_numbers(const struct pair *pair,
                                     struct lks_error *error)
{
    const struct lks_manifest *older = pair->older;
    const struct lks_manifest *newer = pair->newer;
    const struct {
        const char *what;
        uint64_t (*read)(const struct lks_manifest *manifest);
    } numbers[] = {
        {"next_step", lks_manifest_next_step},
        {"first_live_step", lks_manifest_first_live_step},
        {"total_bytes", lks_manifest_total_bytes},
    };

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        enum lks_status status =
            check_rises(pair, numbers[i].what, numbers[i].read(older),
                        numbers[i].read(newer), error);

        if (status != LKS_OK)
            return status;
    }
    if (lks_manifest_dropped(older) && !lks_manifest_dropped(newer))
        return say(pair, "the stream is not dropped any more", error);
    if (!lks_manifest_ended(older))
        return LKS_OK;
    if (!lks_manifest_ended(newer))
        return say(pair, "the stream has not ended any more", error);
    if (lks_manifest_next_step(older) != lks_manifest_next_step(newer))
        return say(pair, "it appends to a stream that has ended", error);
    return LKS_OK;
}

static bool entries_equal(const struct lks_entry *left,
                          const struct lks_entry *right)
{
    return strcmp(left->producer, right->producer) == 0 &&
           left->epoch == right->epoch && left->owner_tag == right->owner_tag &&
           left->seq == right->seq && left->size == right->size &&
           left->version == right->version && left->total == right->total &&
           left->footer_crc == right->footer_crc &&
           left->footer_size == right->footer_size &&
           left->raw_max == right->raw_max &&
           left->table.kind == right->table.kind;
}

static enum lks_status check_common(const struct pair *pair,
                                    struct lks_error *error)
{
    uint32_t slice_count = pair->verify->stream->slice_count;
    uint64_t step = lks_manifest_tail_first(pair->newer);
    struct lks_entry older;
    struct lks_entry newer;

    if (step < lks_manifest_tail_first(pair->older))
        return say(pair, "its tail begins before that of its predecessor",
                   error);
    if (step > lks_manifest_next_step(pair->older))
        return say(pair, "its tail does not follow on its predecessor's",
                   error);
    for (; step < lks_manifest_next_step(pair->older) &&
           step < lks_manifest_next_step(pair->newer);
         step++) {
        lks_manifest_entry(pair->older, step, slice_count, &older);
        lks_manifest_entry(pair->newer, step, slice_count, &newer);
        if (!entries_equal(&older, &newer))
            return lks_report_problem(&pair->verify->report, error,
                                      "manifest version %" PRIu64
                                      ": step %" PRIu64
                                      " is not what the version before has",
                                      pair->version, step);
    }
    return LKS_OK;
}

/* The steps that `newer` adds: of one producer and of this version. */
static enum lks_status check_added(const struct pair *pair,
                                   struct lks_entry *first,
                                   struct lks_error *error)
{
    uint32_t slice_count = pair->verify->stream->slice_count;
    uint64_t step = lks_manifest_next_step(pair->older);
    struct lks_entry entry;

    if (step < lks_manifest_tail_first(pair->newer))
        return LKS_OK; /* Said already. */
    for (; step < lks_manifest_next_step(pair->newer); step++) {
        lks_manifest_entry(pair->newer, step, slice_count, &entry);
        if (first->producer == NULL)
            *first = entry;
        if (entry.version != pair->version ||
            strcmp(entry.producer, first->producer) != 0 ||
            entry.epoch != first->epoch)
            return lks_report_problem(&pair->verify->report, error,
                                      "manifest version %" PRIu64
                                      ": step %" PRIu64
                                      " was not added by its committer",
                                      pair->version, step);
    }
    return LKS_OK;
}

static enum lks_status check_record(const struct pair *pair,
                                    const struct lks_producer_record *older,
                                    const struct lks_producer_record *newer,
                                    uint64_t added_count,
                                    struct lks_error *error)
{
    const char *what = NULL;

    if (newer->epoch < older->epoch)
        what = "its epoch goes back";
    else if (newer->epoch == older->epoch &&
             memcmp(newer->owner, older->owner, LKS_ID_SIZE) != 0)
        what = "its owner changes within an epoch";
    else if (newer->next_seq != older->next_seq + added_count)
        what = "its next seq does not count the steps that were added";
    else if (added_count == 0 &&
             (newer->offset_size != older->offset_size ||
              (older->offset_size > 0 &&
               memcmp(newer->offset, older->offset, older->offset_size) != 0)))
        what = "its offset changes without an append";
    else if (added_count == 0 && older->finished && !newer->finished)
        what = "it is unfinished again without an append";
    if (what == NULL)
        return LKS_OK;
    return lks_report_problem(&pair->verify->report, error,
                              "manifest version %" PRIu64 ": producer %s: %s",
                              pair->version, newer->id, what);
}

/* Both maps are in order of id, and nobody leaves: a merge. */
static enum lks_status check_producers(const struct pair *pair,
                                       const struct lks_entry *added,
                                       struct lks_error *error)
{
    static const struct lks_producer_record nobody;
    uint32_t older_count = lks_manifest_producer_count(pair->older);
    uint32_t newer_count = lks_manifest_producer_count(pair->newer);
    uint64_t added_count = lks_manifest_next_step(pair->newer) -
                           lks_manifest_next_step(pair->older);
    struct lks_producer_record older;
    struct lks_producer_record newer;
    uint32_t place = 0;

    for (uint32_t i = 0; i < newer_count; i++) {
        bool is_adder;
        enum lks_status status;

        lks_manifest_producer(pair->newer, i, &newer);
        older = nobody;
        if (place < older_count)
            lks_manifest_producer(pair->older, place, &older);
        if (older.id != NULL && strcmp(older.id, newer.id) == 0)
            place++;
        else
            older = nobody;
        is_adder =
            added->producer != NULL && strcmp(added->producer, newer.id) == 0;
        status = check_record(pair, &older, &newer, is_adder ? added_count : 0,
                              error);
        if (status != LKS_OK)
            return status;
    }
    if (place < older_count)
        return say(pair, "a producer is gone from the map", error);
    return LKS_OK;
}

enum lks_status lks_verify_pair(struct lks_verify *verify,
                                const struct lks_manifest *older,
                                const struct lks_manifest *newer,
                                struct lks_error *error)
{
    const struct pair pair = {
        .verify = verify,
        .older = older,
        .newer = newer,
        .version = lks_manifest_version(newer),
    };
    struct lks_entry added = {.producer = NULL};
    enum lks_status status = check_numbers(&pair, error);

    if (status != LKS_OK ||
        lks_manifest_next_step(newer) < lks_manifest_next_step(older))
        return status;
    status = check_common(&pair, error);
    if (status != LKS_OK)
        return status;
    status = check_added(&pair, &added, error);
    if (status != LKS_OK)
        return status;
    return check_producers(&pair, &added, error);
}
