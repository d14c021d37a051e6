/*
 * The manifests that are still there, newest first: one unbroken chain, each
 * decodes, each may follow the one before it, and each that filled a block says
 * what the block says.
 *
 * Reclaim removes a manifest once its successor is LKS_RETIRE_MS old, in any
 * order within a batch, and a writer that slept may create such a name again.
 * So a gap below an old manifest is as it should be, and what is left below it
 * proves nothing any more.
 */
#include "inspect/verify.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"

/* Y: docs/protocol.md, "Trusting a name". */
#define RETIRE_MS (15 * 60 * 1000)

struct chain {
    struct lks_verify *verify;
    struct lks_buf bytes;       /* of the manifest in hand */
    struct lks_manifest *newer; /* the one above it; NULL if not readable */
    uint64_t expected;          /* the version that comes next */
    int64_t above_ms;           /* when the one above was made */
    int64_t now_ms;             /* the store's clock */
    bool broken;                /* below a gap that reclaim left */
    uint64_t left_count;        /* manifests down there */
};

/* Whether the one above is old enough for those below to be reclaimed. */
static bool may_be_reclaimed(const struct chain *chain)
{
    return chain->above_ms + RETIRE_MS <= chain->now_ms;
}

static enum lks_status take_gap(struct chain *chain,
                                uint64_t version,
                                struct lks_error *error)
{
    lks_manifest_free(chain->newer);
    chain->newer = NULL;
    if (may_be_reclaimed(chain)) {
        chain->broken = true;
        return LKS_OK;
    }
    return lks_report_problem(&chain->verify->report, error,
                              "the manifests of versions %" PRIu64
                              " to %" PRIu64
                              " are missing, though version %" PRIu64
                              " after them is younger than reclaim allows",
                              version + 1, chain->expected,
                              chain->expected + 1);
}

static enum lks_status check_sealed(struct chain *chain,
                                    const struct lks_manifest *manifest,
                                    const char *name,
                                    struct lks_error *error)
{
    struct lks_verify *verify = chain->verify;
    const uint8_t *stream = verify->stream->descriptor.stream;
    uint64_t number = lks_manifest_tail_first(manifest) / LKS_BLOCK_STEPS;
    struct lks_index *index = NULL;
    struct lks_error found;
    struct lks_buf stored;
    struct lks_buf made;
    bool equal = true;
    enum lks_status status;

    lks_buf_init(&stored, LKS_INDEX_SIZE_MAX);
    lks_buf_init(&made, LKS_INDEX_SIZE_MAX);
    status = lks_verify_read_block(verify, number, &stored, &index, &found);
    lks_index_free(index);
    if (status == LKS_NOT_FOUND || status == LKS_CORRUPT) {
        /* Whether it must be there, and whole, the steps will tell. */
        status = LKS_OK;
        goto done;
    }
    if (status == LKS_OK)
        status = lks_index_encode(manifest, &made, &found);
    if (status == LKS_OK)
        status =
            lks_index_compare(&stored, &made, stream, number, &equal, &found);
    if (status != LKS_OK)
        status = lks_verify_judge(verify, name, &found, error);
    else if (!equal)
        status = lks_report_problem(&verify->report, error,
                                    "index/%016" PRIx64 ": differs from "
                                    "version %" PRIu64 ", which it was made of",
                                    number, lks_manifest_version(manifest));

done:
    lks_buf_done(&made);
    lks_buf_done(&stored);
    return status;
}

static enum lks_status check_manifest(struct chain *chain,
                                      struct lks_manifest *manifest,
                                      const char *name,
                                      struct lks_error *error)
{
    enum lks_status status = LKS_OK;

    if (chain->newer != NULL)
        status = lks_verify_pair(chain->verify, manifest, chain->newer, error);
    if (status == LKS_OK && lks_manifest_tail_is_full(manifest))
        status = check_sealed(chain, manifest, name, error);
    return status;
}

/* One manifest, which is not newer than the head. */
static enum lks_status take(struct chain *chain,
                            const struct lks_listed *listed,
                            uint64_t version,
                            struct lks_error *error)
{
    struct lks_verify *verify = chain->verify;
    struct lks_manifest *manifest = NULL;
    struct lks_call call = LKS_CALL_INIT;
    struct lks_error found;
    enum lks_status status;

    lks_buf_clear(&chain->bytes);
    status =
        lks_store_get_all(verify->stream->store, listed->key,
                          4 * LKS_MANIFEST_GUESS, &chain->bytes, &call, &found);
    if (status == LKS_NOT_FOUND)
        return LKS_OK; /* Reclaimed since it was listed: part of a gap. */
    if (status == LKS_OK)
        status = lks_manifest_decode(chain->bytes.data, chain->bytes.size,
                                     verify->stream->descriptor.stream, version,
                                     &manifest, &found);

    if (version != chain->expected && !chain->broken) {
        enum lks_status gap = take_gap(chain, version, error);

        if (gap != LKS_OK) {
            lks_manifest_free(manifest);
            return gap;
        }
    }
    chain->expected = version - 1;
    chain->above_ms = listed->modified_ms;
    verify->manifest_count++;
    if (chain->broken)
        chain->left_count++;
    if (status != LKS_OK)
        status = lks_verify_judge(verify, listed->key, &found, error);
    else if (!chain->broken)
        status = check_manifest(chain, manifest, listed->key, error);
    lks_manifest_free(chain->newer);
    chain->newer = manifest;
    return status;
}

static enum lks_status take_page(struct chain *chain,
                                 const struct lks_listed *listed,
                                 size_t count,
                                 struct lks_error *error)
{
    const struct lks_verify *verify = chain->verify;
    const uint8_t *stream = verify->stream->descriptor.stream;
    uint64_t head = lks_manifest_version(verify->head);

    for (size_t i = 0; i < count; i++) {
        uint64_t version;
        enum lks_status status;

        /* Strange names are for those who look at names. */
        if (!lks_manifest_name_parse(stream, listed[i].key, &version) ||
            version > head)
            continue;
        status = take(chain, &listed[i], version, error);
        if (status != LKS_OK)
            return status;
    }
    return LKS_OK;
}

static enum lks_status walk(struct chain *chain,
                            struct lks_listed *listed,
                            struct lks_error *error)
{
    struct lks_store *store = chain->verify->stream->store;
    char prefix[LKS_NAME_SIZE];
    char after[LKS_KEY_SIZE_MAX + 1] = "";
    size_t count;

    lks_manifest_prefix(chain->verify->stream->descriptor.stream, prefix);
    do {
        struct lks_call call = LKS_CALL_INIT;
        enum lks_status status;

        call.want_date = true;
        status = lks_store_list(store, prefix, after, LKS_LIST_MAX, listed,
                                &count, &call, error);
        if (status != LKS_OK)
            return status;
        chain->now_ms = call.date_ms;
        status = take_page(chain, listed, count, error);
        if (status != LKS_OK)
            return status;
        if (count > 0)
            memcpy(after, listed[count - 1].key, sizeof(after));
    } while (count == LKS_LIST_MAX);
    return LKS_OK;
}

static enum lks_status take_end(struct chain *chain, struct lks_error *error)
{
    struct lks_report *report = &chain->verify->report;

    if (chain->left_count > 0)
        return lks_report_note(report, error,
                               "%" PRIu64 " manifests are left below a gap",
                               chain->left_count);
    if (chain->expected > 0 && !chain->broken && !may_be_reclaimed(chain))
        return lks_report_note(report, error,
                               "the manifests up to version %" PRIu64
                               " are gone, though version %" PRIu64
                               " is younger than reclaim allows: a copy?",
                               chain->expected, chain->expected + 1);
    return LKS_OK;
}

enum lks_status lks_verify_chain(struct lks_verify *verify,
                                 struct lks_error *error)
{
    struct chain chain = {.verify = verify};
    struct lks_listed *listed;
    enum lks_status status;

    lks_buf_init(&chain.bytes, LKS_MANIFEST_SIZE_MAX);
    chain.expected = lks_manifest_version(verify->head);
    chain.above_ms = INT64_MAX - RETIRE_MS; /* Nothing excuses a lost head. */
    listed = lks_alloc_zero(LKS_LIST_MAX, sizeof(*listed));
    if (listed == NULL) {
        status = lks_error_no_memory(error);
        goto done;
    }
    status = walk(&chain, listed, error);
    if (status == LKS_OK)
        status = take_end(&chain, error);

done:
    lks_free(listed);
    lks_manifest_free(chain.newer);
    lks_buf_done(&chain.bytes);
    return status;
}
