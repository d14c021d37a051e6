/*
 * The names under the prefix: each is explained by the stream's state, or it is
 * told. Uploads that were never committed are no damage; what only a lost
 * manifest could explain is.
 *
 * A name that the head does not explain may have come after it. So it is held
 * against a newer look, since a name's reason is committed before the name.
 */
#include "inspect/verify.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "format/lifecycle.h"
#include "format/watermark.h"

/* Somebody's files may be many, and hide what else is noted. */
#define FOREIGN_SHOWN 10u

struct names {
    struct lks_verify *verify;
    struct lks_log fresh; /* looked at once per page, if at all */
    bool is_fresh;
    uint64_t behind_count;  /* data objects that are not ahead */
    uint64_t retired_count; /* index blocks below the first live step */
    uint64_t former_count;  /* watermarks of runs that are not shown */
    uint64_t foreign_count; /* names that no stream gives */
};

static enum lks_status look_again(struct names *names, struct lks_error *error)
{
    enum lks_status status = LKS_OK;

    if (!names->is_fresh)
        status = lks_log_look(&names->fresh, error);
    names->is_fresh = status == LKS_OK;
    return status;
}

static bool has_opened(const struct lks_manifest *head,
                       const struct lks_data_parts *name)
{
    struct lks_producer_record record;

    return lks_manifest_find_producer(head, name->producer, &record) &&
           record.epoch >= name->epoch;
}

static enum lks_status take_data(struct names *names,
                                 const char *key,
                                 const struct lks_data_parts *name,
                                 struct lks_error *error)
{
    struct lks_verify *verify = names->verify;
    struct lks_producer_record record;
    enum lks_status status;

    if (has_opened(verify->head, name)) {
        lks_manifest_find_producer(verify->head, name->producer, &record);
        if (name->epoch == record.epoch && name->seq >= record.next_seq &&
            name->owner_tag == lks_owner_tag(record.owner))
            verify->ahead_count++;
        else
            names->behind_count++;
        return LKS_OK;
    }
    status = look_again(names, error);
    if (status != LKS_OK)
        return status;
    if (!has_opened(names->fresh.head, name))
        return lks_report_problem(&verify->report, error,
                                  "%s: no manifest ever opened this epoch: are "
                                  "the newest ones lost?",
                                  key);
    verify->ahead_count++;
    return LKS_OK;
}

/* Blocks that may be there by this manifest: all sealed ones, and the one that
 * its tail has just filled. */
static uint64_t blocks_of(const struct lks_manifest *head)
{
    return lks_manifest_tail_first(head) / LKS_BLOCK_STEPS +
           (lks_manifest_tail_is_full(head) ? 1 : 0);
}

static enum lks_status take_block(struct names *names,
                                  const char *key,
                                  uint64_t number,
                                  struct lks_error *error)
{
    const struct lks_manifest *head = names->verify->head;
    enum lks_status status;

    if (number < lks_manifest_first_live_step(head) / LKS_BLOCK_STEPS)
        names->retired_count++;
    if (number < blocks_of(head))
        return LKS_OK;
    status = look_again(names, error);
    if (status != LKS_OK || number < blocks_of(names->fresh.head))
        return status;
    return lks_report_problem(&names->verify->report, error,
                              "%s: the stream has not got that far: are its "
                              "newest manifests lost?",
                              key);
}

/* A run is committed before its first watermark is written, so one that the
 * head does not show may be newer: it is no problem either way. */
static enum lks_status take_watermark(struct names *names,
                                      const char *key,
                                      const struct lks_watermark_parts *parts,
                                      struct lks_error *error)
{
    struct lks_verify *verify = names->verify;
    struct lks_group_record group;
    struct lks_error found;
    struct lks_buf buf;
    enum lks_status status;
    uint64_t step;

    if (!lks_manifest_find_group(verify->head, parts->group, &group) ||
        strcmp(group.run.id, parts->run) != 0 ||
        group.run.attempt != parts->attempt) {
        names->former_count++;
        return LKS_OK;
    }
    lks_buf_init(&buf, LKS_WATERMARK_SIZE_MAX);
    status = lks_store_get_all(verify->stream->store, key,
                               LKS_WATERMARK_SIZE_MAX, &buf, NULL, &found);
    if (status == LKS_OK)
        status = lks_watermark_decode(buf.data, buf.size,
                                      verify->stream->descriptor.stream, key,
                                      &step, &found);
    lks_buf_done(&buf);
    if (status == LKS_OK || status == LKS_NOT_FOUND)
        return LKS_OK;
    return lks_verify_judge(verify, key, &found, error);
}

static enum lks_status take_name(struct names *names,
                                 const char *key,
                                 struct lks_error *error)
{
    const uint8_t *stream = names->verify->stream->descriptor.stream;
    struct lks_watermark_parts watermark;
    struct lks_data_parts name;
    uint64_t number;

    if (lks_data_name_parse(key, &name))
        return take_data(names, key, &name, error);
    if (lks_index_name_parse(key, &number))
        return take_block(names, key, number, error);
    if (lks_watermark_name_parse(key, &watermark))
        return take_watermark(names, key, &watermark, error);
    if (strcmp(key, LKS_DESCRIPTOR_NAME) == 0 ||
        lks_manifest_name_parse(stream, key, &number))
        return LKS_OK;
    if (++names->foreign_count > FOREIGN_SHOWN)
        return LKS_OK;
    return lks_report_note(&names->verify->report, error,
                           "%s: not an object of this stream", key);
}

static enum lks_status walk(struct names *names,
                            struct lks_listed *listed,
                            struct lks_error *error)
{
    char after[LKS_KEY_SIZE_MAX + 1] = "";
    size_t count;

    do {
        struct lks_call call = LKS_CALL_INIT;
        enum lks_status status;

        status = lks_store_list(names->verify->stream->store, "", after,
                                LKS_LIST_MAX, listed, &count, &call, error);
        if (status != LKS_OK)
            return status;
        names->is_fresh = false;
        for (size_t i = 0; i < count; i++) {
            status = take_name(names, listed[i].key, error);
            if (status != LKS_OK)
                return status;
        }
        if (count > 0)
            memcpy(after, listed[count - 1].key, sizeof(after));
    } while (count == LKS_LIST_MAX);
    return LKS_OK;
}

enum lks_status lks_verify_names(struct lks_verify *verify,
                                 struct lks_error *error)
{
    struct names names = {.verify = verify};
    struct lks_listed *listed;
    enum lks_status status;

    lks_log_init(&names.fresh, verify->stream, LKS_LOG_WHOLE, NULL);
    listed = lks_alloc_zero(LKS_LIST_MAX, sizeof(*listed));
    if (listed == NULL) {
        status = lks_error_no_memory(error);
        goto done;
    }
    status = walk(&names, listed, error);
    if (status != LKS_OK)
        goto done;

    /* Among those that are not ahead are the live ones. Counting them apart
     * needs no list of names, which would grow with the stream. */
    if (names.behind_count > verify->present_count)
        verify->behind_count = names.behind_count - verify->present_count;
    if (names.foreign_count > FOREIGN_SHOWN)
        status = lks_report_note(&verify->report, error,
                                 "%" PRIu64 " more are not objects of this "
                                 "stream",
                                 names.foreign_count - FOREIGN_SHOWN);
    if (status == LKS_OK && names.retired_count > 0)
        status = lks_report_note(&verify->report, error,
                                 "%" PRIu64 " index blocks lie below the first "
                                 "live step: not removed yet",
                                 names.retired_count);
    if (status == LKS_OK && names.former_count > 0)
        status = lks_report_note(&verify->report, error,
                                 "%" PRIu64 " watermarks are of runs that are "
                                 "not the groups' any more",
                                 names.former_count);

done:
    lks_free(listed);
    lks_log_done(&names.fresh);
    return status;
}
