/*
 * What is garbage, judged against one head manifest.
 *
 * A data object is garbage if no live step names it, and it is of an older
 * epoch than its producer has, or of the same with a seq that is used up: then
 * nobody can commit it any more. What is higher, or of an id that the head does
 * not know, may be in flight, and is never touched. docs/protocol.md,
 * "Garbage".
 */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "format/lifecycle.h"
#include "manifest/lookup.h"
#include "reclaim/sweep.h"

/* ---------------------------------------------------------------- data -- */

/* Reads the entries of all live steps: the index blocks with the budget's
 * leave. One that cannot be read ends the sweep before it deleted anything. */
static enum lks_status find_live(struct lks_sweep *sweep,
                                 struct lks_live_set *set,
                                 struct lks_error *error)
{
    struct lks_lookup lookup;
    enum lks_status status = LKS_OK;
    uint64_t get_count = 0;

    lks_lookup_init(&lookup, sweep->stream, sweep->log->cancel);
    for (uint64_t step = sweep->first_live;
         step < lks_manifest_next_step(sweep->log->head); step++) {
        struct lks_entry entry;

        status = lks_lookup_entry(&lookup, sweep->log, step, &entry, error);
        if (status == LKS_OK)
            status = lks_live_set_add(set, &entry, error);
        if (status != LKS_OK)
            break;
        for (; get_count < lookup.get_count; get_count++)
            lks_sweep_pace(sweep);
    }
    lks_lookup_done(&lookup);
    return status;
}

enum standing {
    GARBAGE,
    LIVE,
    IN_FLIGHT,
    UNKNOWN,
};

/* Of a TGB, whether it is an object already or on its way. */
static enum standing find_standing(const struct lks_sweep *sweep,
                                   const struct lks_live_set *live,
                                   const char *key)
{
    const struct lks_manifest *head = sweep->log->head;
    struct lks_producer_record record;
    struct lks_data_parts name;

    if (!lks_data_name_parse(key, &name) ||
        !lks_manifest_find_producer(head, name.producer, &record))
        return UNKNOWN;
    /* One that opened after it had finished may have died with an upload on its
     * way. Once the stream has ended, nobody can commit it any more. */
    if (!lks_manifest_ended(head) &&
        (name.epoch > record.epoch ||
         (name.epoch == record.epoch && name.seq >= record.next_seq)))
        return IN_FLIGHT;
    return lks_live_set_has(live, &name) ? LIVE : GARBAGE;
}

static bool judge_data(struct lks_sweep *sweep,
                       const struct lks_listed *listed,
                       const struct lks_listed *before,
                       void *arg)
{
    enum standing standing = find_standing(sweep, arg, listed->key);

    (void)before;
    if (standing == IN_FLIGHT)
        lks_tally_add(&sweep->in_flight, listed);
    if (standing == UNKNOWN)
        lks_sweep_pass_over(sweep, listed);
    return standing == GARBAGE;
}

/* Not the upload of a live TGB either, such as one that was sent twice: it
 * waits until the step is reclaimed, in case a store confuses the parts of an
 * upload with those of the object. */
static bool judge_upload(struct lks_sweep *sweep, const char *key, void *arg)
{
    return find_standing(sweep, arg, key) == GARBAGE;
}

static enum lks_status sweep_data(struct lks_sweep *sweep,
                                  struct lks_error *error)
{
    struct lks_live_set live;
    const struct lks_sweep_plan plan = {
        .kind = LKS_SWEPT_DATA,
        .prefix = "data/",
        .judge = judge_data,
        .arg = &live,
    };
    enum lks_status status;

    lks_live_set_init(&live);
    status = find_live(sweep, &live, error);
    if (status == LKS_OK)
        status = lks_sweep_walk(sweep, &plan, error);
    if (status == LKS_OK)
        status = lks_sweep_uploads(sweep, judge_upload, &live, error);
    lks_live_set_done(&live);
    return status;
}

/* -------------------------------------------------------- index blocks -- */

static bool judge_index(struct lks_sweep *sweep,
                        const struct lks_listed *listed,
                        const struct lks_listed *before,
                        void *arg)
{
    uint64_t number;

    (void)before;
    (void)arg;
    if (!lks_index_name_parse(listed->key, &number)) {
        lks_sweep_pass_over(sweep, listed);
        return false;
    }
    return number < sweep->first_live / LKS_BLOCK_STEPS;
}

/* ---------------------------------------------------------- watermarks -- */

/* A run is committed before its first watermark is written. So a head that is
 * looked up after the listing shows every run that the listing can have. */
static enum lks_status look_after_listing(struct lks_sweep *sweep,
                                          struct lks_error *error)
{
    lks_sweep_pace(sweep);
    return lks_log_look(sweep->log, error);
}

static bool judge_watermark(struct lks_sweep *sweep,
                            const struct lks_listed *listed,
                            const struct lks_listed *before,
                            void *arg)
{
    struct lks_watermark_parts name;
    struct lks_group_record group;

    (void)before;
    (void)arg;
    if (!lks_watermark_name_parse(listed->key, &name)) {
        lks_sweep_pass_over(sweep, listed);
        return false;
    }
    return !lks_manifest_find_group(sweep->log->head, name.group, &group) ||
           strcmp(group.run.id, name.run) != 0 ||
           group.run.attempt != name.attempt;
}

/* ----------------------------------------------------------------- all -- */

static enum lks_status sweep_manifests(struct lks_sweep *sweep,
                                       struct lks_error *error)
{
    char prefix[LKS_NAME_SIZE];
    const struct lks_sweep_plan plan = {
        .kind = LKS_SWEPT_MANIFESTS,
        .prefix = prefix,
        .judge = lks_sweep_judge_manifest,
    };

    lks_manifest_prefix(sweep->stream->descriptor.stream, prefix);
    return lks_sweep_walk(sweep, &plan, error);
}

enum lks_status lks_sweep_all(struct lks_sweep *sweep, struct lks_error *error)
{
    const struct lks_sweep_plan index = {
        .kind = LKS_SWEPT_INDEX,
        .prefix = "index/",
        .judge = judge_index,
    };
    const struct lks_sweep_plan watermarks = {
        .kind = LKS_SWEPT_WATERMARKS,
        .prefix = "watermark/",
        .begin_page = look_after_listing,
        .judge = judge_watermark,
    };
    enum lks_status status;

    /* A block names the data of its steps, so that goes first. */
    status = sweep_data(sweep, error);
    if (status == LKS_OK)
        status = lks_sweep_walk(sweep, &index, error);
    if (status == LKS_OK)
        status = sweep_manifests(sweep, error);
    if (status == LKS_OK)
        status = lks_sweep_walk(sweep, &watermarks, error);
    return status;
}

/* ------------------------------------------------------- once dropped -- */

/* Only names that a stream gives: what else lies among them is not ours. */
static bool is_ours(const char *key)
{
    struct lks_data_parts data;
    struct lks_watermark_parts mark;
    uint64_t number;

    return lks_data_name_parse(key, &data) ||
           lks_index_name_parse(key, &number) ||
           lks_watermark_name_parse(key, &mark);
}

static bool judge_dropped(struct lks_sweep *sweep,
                          const struct lks_listed *listed,
                          const struct lks_listed *before,
                          void *arg)
{
    (void)before;
    (void)arg;
    if (is_ours(listed->key))
        return true;
    lks_sweep_pass_over(sweep, listed);
    return false;
}

static bool judge_dropped_upload(struct lks_sweep *sweep,
                                 const char *key,
                                 void *arg)
{
    (void)sweep;
    (void)arg;
    return is_ours(key);
}

enum lks_status lks_sweep_dropped(struct lks_sweep *sweep,
                                  struct lks_error *error)
{
    static const struct lks_sweep_plan plans[] = {
        {.kind = LKS_SWEPT_DATA, .prefix = "data/", .judge = judge_dropped},
        {.kind = LKS_SWEPT_INDEX, .prefix = "index/", .judge = judge_dropped},
        {.kind = LKS_SWEPT_WATERMARKS,
         .prefix = "watermark/",
         .judge = judge_dropped},
    };
    enum lks_status status = LKS_OK;

    assert(lks_manifest_dropped(sweep->log->head));

    for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
        if (status == LKS_OK)
            status = lks_sweep_walk(sweep, &plans[i], error);
    }
    if (status == LKS_OK)
        status = lks_sweep_uploads(sweep, judge_dropped_upload, NULL, error);
    return status == LKS_OK ? sweep_manifests(sweep, error) : status;
}
