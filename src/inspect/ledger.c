/*
 * The producers' accounts: seqs without gap or repeat, epochs that only rise,
 * offsets that each TGB takes over from the one before.
 */
#include "inspect/ledger.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"

void lks_ledger_init(struct lks_ledger *ledger, struct lks_report *report)
{
    *ledger = (struct lks_ledger){.report = report};
}

void lks_ledger_done(struct lks_ledger *ledger)
{
    for (size_t i = 0; i < ledger->count; i++)
        lks_free(ledger->accounts[i]);
    lks_free(ledger->accounts);
    lks_ledger_init(ledger, ledger->report);
}

void lks_ledger_forget(struct lks_ledger *ledger)
{
    ledger->complete = false;
    for (size_t i = 0; i < ledger->count; i++) {
        ledger->accounts[i]->seq_known = false;
        ledger->accounts[i]->offset_known = false;
    }
}

/* The place of `id`, or the one where it belongs. */
static size_t place_of(const struct lks_ledger *ledger, const char *id)
{
    size_t low = 0;
    size_t high = ledger->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (strcmp(ledger->accounts[middle]->id, id) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static enum lks_status insert(struct lks_ledger *ledger,
                              size_t place,
                              const char *id,
                              struct lks_error *error)
{
    struct lks_account *account;

    if (ledger->count == ledger->capacity) {
        size_t capacity = 2 * ledger->capacity + 16;
        struct lks_account **accounts =
            lks_realloc(ledger->accounts, capacity * sizeof(*ledger->accounts));

        if (accounts == NULL)
            return lks_error_no_memory(error);
        ledger->accounts = accounts;
        ledger->capacity = capacity;
    }
    account = lks_alloc_zero(1, sizeof(*account));
    if (account == NULL)
        return lks_error_no_memory(error);
    memccpy(account->id, id, '\0', sizeof(account->id) - 1);
    account->seq_known = ledger->complete;
    account->offset_known = ledger->complete;
    memmove(ledger->accounts + place + 1, ledger->accounts + place,
            (ledger->count - place) * sizeof(*ledger->accounts));
    ledger->accounts[place] = account;
    ledger->count++;
    return LKS_OK;
}

/* The account of this id, made if need be. */
static enum lks_status find(struct lks_ledger *ledger,
                            const char *id,
                            struct lks_account **out_account,
                            struct lks_error *error)
{
    size_t place = place_of(ledger, id);
    enum lks_status status = LKS_OK;

    if (place == ledger->count || strcmp(ledger->accounts[place]->id, id) != 0)
        status = insert(ledger, place, id, error);
    if (status == LKS_OK)
        *out_account = ledger->accounts[place];
    return status;
}

static enum lks_status check_epoch(struct lks_ledger *ledger,
                                   const char *where,
                                   const struct lks_account *account,
                                   uint64_t epoch,
                                   uint32_t owner_tag,
                                   struct lks_error *error)
{
    if (epoch < account->epoch)
        return lks_report_problem(ledger->report, error,
                                  "%s: producer %s is back at epoch %" PRIu64
                                  " after epoch %" PRIu64,
                                  where, account->id, epoch, account->epoch);
    if (epoch == account->epoch && account->owner_known &&
        owner_tag != account->owner_tag)
        return lks_report_problem(ledger->report, error,
                                  "%s: epoch %" PRIu64 " of producer %s has "
                                  "two owners, %08" PRIx32 " and %08" PRIx32,
                                  where, epoch, account->id, account->owner_tag,
                                  owner_tag);
    return LKS_OK;
}

enum lks_status lks_ledger_take_entry(struct lks_ledger *ledger,
                                      const char *where,
                                      const struct lks_entry *entry,
                                      struct lks_error *error)
{
    struct lks_account *account;
    enum lks_status status;

    status = find(ledger, entry->producer, &account, error);
    if (status != LKS_OK)
        return status;
    if (account->seq_known && entry->seq != account->next_seq) {
        status = lks_report_problem(ledger->report, error,
                                    "%s: step %" PRIu64 " is seq %" PRIu64
                                    " of producer %s, where "
                                    "seq %" PRIu64 " is due: %s",
                                    where, entry->step, entry->seq, account->id,
                                    account->next_seq,
                                    entry->seq < account->next_seq
                                        ? "it is repeated"
                                        : "some are lost");
        if (status != LKS_OK)
            return status;
        account->offset_known = false;
    }
    status = check_epoch(ledger, where, account, entry->epoch, entry->owner_tag,
                         error);
    account->seq_known = true;
    account->next_seq = entry->seq + 1;
    account->epoch = entry->epoch;
    account->owner_known = true;
    account->owner_tag = entry->owner_tag;
    return status;
}

static bool bytes_equal(const void *left,
                        size_t left_size,
                        const void *right,
                        size_t right_size)
{
    return left_size == right_size &&
           (left_size == 0 || memcmp(left, right, left_size) == 0);
}

enum lks_status lks_ledger_take_footer(struct lks_ledger *ledger,
                                       const char *name,
                                       const struct lks_footer *footer,
                                       struct lks_error *error)
{
    struct lks_account *account;
    enum lks_status status;

    status = find(ledger, footer->producer, &account, error);
    if (status != LKS_OK)
        return status;
    if (account->offset_known &&
        !bytes_equal(account->offset, account->offset_size,
                     footer->offset_before, footer->offset_before_size))
        status = lks_report_problem(ledger->report, error,
                                    "%s: its offset before is not the offset "
                                    "after the producer's TGB before it",
                                    name);
    account->offset_known = footer->offset_after_size <= LKS_OFFSET_SIZE_MAX;
    if (!account->offset_known)
        return status;
    account->offset_size = footer->offset_after_size;
    if (account->offset_size > 0)
        memcpy(account->offset, footer->offset_after, account->offset_size);
    return status;
}

void lks_ledger_lose_offset(struct lks_ledger *ledger, const char *id)
{
    size_t place = place_of(ledger, id);

    if (place < ledger->count && strcmp(ledger->accounts[place]->id, id) == 0)
        ledger->accounts[place]->offset_known = false;
}

static enum lks_status check_offset(struct lks_ledger *ledger,
                                    const char *where,
                                    struct lks_account *account,
                                    const struct lks_producer_record *record,
                                    struct lks_error *error)
{
    if (record->offset_size > LKS_OFFSET_SIZE_MAX)
        return lks_report_problem(ledger->report, error,
                                  "%s: the offset of producer %s has %zu bytes",
                                  where, account->id, record->offset_size);
    if (account->offset_known &&
        !bytes_equal(account->offset, account->offset_size, record->offset,
                     record->offset_size))
        return lks_report_problem(ledger->report, error,
                                  "%s: the offset of producer %s is not the "
                                  "one after its last TGB",
                                  where, account->id);
    account->offset_known = true;
    account->offset_size = record->offset_size;
    if (record->offset_size > 0)
        memcpy(account->offset, record->offset, record->offset_size);
    return LKS_OK;
}

enum lks_status lks_ledger_take_record(struct lks_ledger *ledger,
                                       const char *where,
                                       const struct lks_producer_record *record,
                                       struct lks_error *error)
{
    struct lks_account *account;
    enum lks_status status;
    uint32_t tag = lks_owner_tag(record->owner);

    status = find(ledger, record->id, &account, error);
    if (status != LKS_OK)
        return status;
    if (account->seq_known && account->next_seq != record->next_seq) {
        status =
            lks_report_problem(ledger->report, error,
                               "%s: the next seq of producer %s is %" PRIu64
                               ", but the steps say "
                               "%" PRIu64,
                               where, account->id, record->next_seq,
                               account->next_seq);
        if (status != LKS_OK)
            return status;
    }
    status = check_epoch(ledger, where, account, record->epoch, tag, error);
    if (status != LKS_OK)
        return status;
    account->last_map = ledger->map_count + 1;
    account->seq_known = true;
    account->next_seq = record->next_seq;
    account->epoch = record->epoch;
    account->owner_known = true;
    account->owner_tag = tag;
    return check_offset(ledger, where, account, record, error);
}

enum lks_status lks_ledger_close_map(struct lks_ledger *ledger,
                                     const char *where,
                                     struct lks_error *error)
{
    ledger->map_count++;
    for (size_t i = 0; i < ledger->count; i++) {
        const struct lks_account *account = ledger->accounts[i];
        enum lks_status status;

        if (account->last_map == ledger->map_count)
            continue;
        status = lks_report_problem(ledger->report, error,
                                    "%s: producer %s is not in the map", where,
                                    account->id);
        if (status != LKS_OK)
            return status;
    }
    return LKS_OK;
}
