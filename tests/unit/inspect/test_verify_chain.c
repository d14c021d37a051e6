/*
 * Verification finds what cannot follow on what was there before: manifests,
 * seqs, epochs, owners, offsets.
 */
#include "support/verify_check.h"

/* ------------------------------------------------------------- the chain -- */

static void a_flipped_byte_in_an_old_manifest_is_found(void **state)
{
    char name[LKS_NAME_SIZE];

    (void)state;
    forge_init(&forge, 1, 1, 2);
    forge_fill(&forge, 40, 4);
    forge_manifest_name(&forge, 5, name);
    for (int64_t at = 0; at < 200; at += 7) {
        forge_flip(&forge, name, at);
        assert_found(false, 1, name, "");
        forge_flip(&forge, name, at);
    }
}

static void a_gap_among_young_manifests_is_found(void **state)
{
    char name[LKS_NAME_SIZE];

    (void)state;
    forge_init(&forge, 1, 1, 2);
    forge_fill(&forge, 40, 4);
    forge_manifest_name(&forge, 5, name);
    forge_remove(&forge, name);
    forge_manifest_name(&forge, 6, name);
    forge_remove(&forge, name);
    assert_found(false, 1, "versions 5 to 6 are missing", "version 7");
}

static void a_gap_below_an_old_manifest_is_not_damage(void **state)
{
    char name[LKS_NAME_SIZE];

    (void)state;
    forge_init(&forge, 1, 1, 2);
    forge_fill(&forge, 40, 4);
    forge_manifest_name(&forge, 5, name);
    forge_remove(&forge, name);
    atomic_store(&forge.store->date_add_ms, 16 * 60 * 1000);
    assert_noted("4 manifests are left below a gap");
}

static void reclaimed_manifests_are_not_missed(void **state)
{
    char name[LKS_NAME_SIZE];

    (void)state;
    forge_init(&forge, 1, 1, 2);
    forge_fill(&forge, 40, 4);
    for (uint64_t version = 1; version < 6; version++) {
        forge_manifest_name(&forge, version, name);
        forge_remove(&forge, name);
    }
    assert_noted("up to version 5 are gone");
    atomic_store(&forge.store->date_add_ms, 16 * 60 * 1000);
    assert_sound(true);
}

/* The newest manifests vanish: a restored backup, a lying store. */
static void lost_newest_manifests_are_found_by_what_they_named(void **state)
{
    char name[LKS_NAME_SIZE];
    uint64_t version;

    (void)state;
    forge_init(&forge, 1, 1, 1);
    forge_fill(&forge, 250, 50);
    version = lks_manifest_version(forge.head);
    forge_open(&forge, 0);
    forge_fill(&forge, 260, 5);
    for (uint64_t i = version + 1; i <= lks_manifest_version(forge.head); i++) {
        forge_manifest_name(&forge, i, name);
        forge_remove(&forge, name);
    }
    /* The block, and one problem for each object of the lost epoch. */
    assert_found(false, 11, "index/0000000000000000", "has not got that far");
    assert_found(false, 11, "data/p0/2-", "no manifest ever opened");
}

/* Version 6 is replaced by what another writer made of version 5. */
static void a_version_of_another_history_is_found(void **state)
{
    struct lks_manifest *saved;
    struct lks_manifest *end;

    (void)state;
    forge_init(&forge, 1, 1, 2);
    forge_append(&forge, 0, 3);
    forge_append(&forge, 0, 3);
    forge_append(&forge, 0, 3);
    saved = forge_save(&forge);
    forge_append(&forge, 0, 3);
    forge_append(&forge, 0, 3);
    end = forge_save(&forge);
    forge_restore(&forge, saved);
    forge_append(&forge, 1, 3);
    forge_restore(&forge, end);

    assert_found(false, 0, "manifest version 7: step 9",
                 "not what the version before has");
    assert_found(false, 0, "manifest version 7: producer p0",
                 "does not count the steps");
    assert_found(false, 0, "manifest version 7: producer p1",
                 "does not count the steps");
}

static void a_producer_that_leaves_the_map_is_found(void **state)
{
    struct lks_manifest *saved;
    struct lks_manifest *end;

    (void)state;
    forge_init(&forge, 1, 1, 1);
    forge_append(&forge, 0, 3);
    saved = forge_save(&forge);
    forge_append(&forge, 0, 3);
    forge_append(&forge, 0, 3);
    end = forge_save(&forge);
    forge_restore(&forge, saved);
    forge_open(&forge, 3);
    forge_restore(&forge, end);
    assert_found(false, 0, "manifest version 4", "a producer is gone");
}

static void a_step_that_a_stranger_to_its_version_added_is_found(void **state)
{
    struct lks_manifest *next;

    (void)state;
    forge_init(&forge, 1, 1, 2);
    next = forge_next(&forge);
    forge_add(&forge, next, 0);
    forge_add(&forge, next, 1);
    forge_commit(&forge, next);
    assert_found(false, 0, "manifest version 3: step 1",
                 "not added by its committer");
}

/* A version whose content is that of an older one. */
static void commit_older(uint64_t version)
{
    struct lks_manifest *older = NULL;
    struct lks_error error;
    char name[LKS_NAME_SIZE];
    struct lks_buf buf;

    forge_manifest_name(&forge, version, name);
    lks_buf_init(&buf, LKS_MANIFEST_SIZE_MAX);
    assert_status(LKS_OK, lks_store_get_all(forge.stream->store, name, 4096,
                                            &buf, NULL, &error));
    assert_status(LKS_OK, lks_manifest_decode(buf.data, buf.size,
                                              forge.stream->descriptor.stream,
                                              version, &older, &error));
    while (lks_manifest_version(older) <= lks_manifest_version(forge.head))
        lks_manifest_advance(older);
    forge_commit(&forge, older);
    lks_buf_done(&buf);
}

static void a_version_that_takes_steps_back_is_found(void **state)
{
    (void)state;
    forge_init(&forge, 1, 1, 1);
    forge_append(&forge, 0, 3);
    forge_append(&forge, 0, 3);
    commit_older(2);
    assert_found(false, 2, "manifest version 4", "next_step goes back");
}

static void an_append_after_the_end_is_found(void **state)
{
    (void)state;
    forge_init(&forge, 1, 1, 1);
    forge_append(&forge, 0, 3);
    forge_finish(&forge, 0);
    assert_true(lks_manifest_ended(forge.head));
    commit_older(2);
    assert_found(false, 2, "manifest version 4", "not ended any more");
}

/* ------------------------------------------------------------- producers -- */

/* The producer's record, changed by hand in a version of its own. */
static void commit_record(const struct lks_producer_record *record)
{
    struct lks_manifest *next = forge_next(&forge);
    struct lks_error error;

    assert_status(LKS_OK, lks_manifest_put_producer(next, record, &error));
    forge_commit(&forge, next);
}

static void a_seq_that_skips_is_found(void **state)
{
    struct lks_producer_record record;

    (void)state;
    forge_init(&forge, 1, 1, 2);
    forge_fill(&forge, 300, 9);
    record = forge_record(&forge, 1);
    record.next_seq++;
    commit_record(&record);
    assert_found(false, 3, "next seq of producer p1", "but the steps say");
    forge_append(&forge, 1, 1);
    /* The pair, the step, the sum. */
    assert_found(false, 3, "of producer p1", "some are lost");
    assert_found(false, 3, "producer p1", "next seq does not count");
    assert_found(false, 3, "manifest/", "seqs add up to 302");
}

static void a_seq_that_is_repeated_is_found(void **state)
{
    struct lks_producer_record record;

    (void)state;
    forge_init(&forge, 1, 1, 2);
    forge_fill(&forge, 20, 5);
    record = forge_record(&forge, 1);
    record.next_seq--;
    commit_record(&record);
    forge_append(&forge, 1, 1);
    assert_found(false, 4, "of producer p1", "it is repeated");
}

static void an_epoch_that_goes_back_is_found(void **state)
{
    struct lks_producer_record record;

    (void)state;
    forge_init(&forge, 1, 1, 2);
    forge_open(&forge, 1);
    forge_fill(&forge, 20, 5);
    record = forge_record(&forge, 1);
    record.epoch--;
    commit_record(&record);
    forge_append(&forge, 1, 1);
    assert_found(false, 0, "producer p1", "its epoch goes back");
    assert_found(false, 0, "producer p1", "back at epoch 1");
}

static void two_owners_of_an_epoch_are_found(void **state)
{
    struct lks_producer_record record;

    (void)state;
    forge_init(&forge, 1, 1, 2);
    forge_fill(&forge, 20, 5);
    record = forge_record(&forge, 1);
    record.owner[1] ^= 1;
    commit_record(&record);
    forge_append(&forge, 1, 1);
    assert_found(false, 2, "producer p1", "its owner changes");
    assert_found(false, 2, "epoch 1 of producer p1", "two owners");
}

static void a_finish_that_is_undone_is_found(void **state)
{
    struct lks_producer_record record;

    (void)state;
    forge_init(&forge, 1, 1, 2);
    forge_fill(&forge, 20, 5);
    forge_finish(&forge, 0);
    record = forge_record(&forge, 0);
    record.finished = false;
    commit_record(&record);
    assert_found(false, 1, "producer p0", "unfinished again");
}

static void an_offset_in_the_map_that_no_tgb_has_is_found(void **state)
{
    struct lks_producer_record record;

    (void)state;
    forge_init(&forge, 1, 1, 2);
    forge_fill(&forge, 20, 5);
    record = forge_record(&forge, 0);
    record.offset = "elsewhere";
    record.offset_size = 9;
    commit_record(&record);
    assert_found(false, 2, "producer p0", "offset changes without");
    assert_found(false, 2, "producer p0", "not the one after its last TGB");
}

static void break_offset(struct lks_footer *footer,
                         struct lks_entry *entry,
                         void *arg)
{
    (void)entry;
    (void)arg;
    if (footer->seq == 7) {
        footer->offset_before = "elsewhere";
        footer->offset_before_size = 9;
    }
}

static void offsets_that_do_not_join_are_found(void **state)
{
    char name[LKS_NAME_SIZE];

    (void)state;
    forge_init(&forge, 1, 1, 1);
    forge.alter = break_offset;
    forge_append(&forge, 0, 20);
    forge_data_name(&forge, 0, 7, name);
    assert_found(false, 1, name, "offset before");
}

static void break_first_offset(struct lks_footer *footer,
                               struct lks_entry *entry,
                               void *arg)
{
    (void)entry;
    (void)arg;
    if (footer->seq == 0) {
        footer->offset_before = "x";
        footer->offset_before_size = 1;
    }
}

static void a_first_tgb_that_does_not_begin_at_the_beginning_is_found(
    void **state)
{
    (void)state;
    forge_init(&forge, 1, 1, 1);
    forge.alter = break_first_offset;
    forge_append(&forge, 0, 2);
    assert_found(false, 1, "data/p0/1-", "offset before");
}

/* What an entry and a footer may disagree on. `arg` says which. */
static void break_footer(struct lks_footer *footer,
                         struct lks_entry *entry,
                         void *arg)
{
    static const uint64_t frames[2] = {128, 256}; /* as 2 * 192 */

    switch (*(int *)arg) {
    case 0:
        footer->stream[0] ^= 1;
        break;
    case 1:
        footer->dp = 1;
        footer->cp = 2;
        break;
    case 2:
        footer->producer = "p9";
        break;
    case 3:
        footer->epoch = 5;
        break;
    case 4:
        footer->owner[0] ^= 1;
        break;
    case 5:
        footer->seq += 1;
        break;
    case 6:
        footer->raw_max = 1000;
        break;
    case 7:
        footer->frames = frames;
        break;
    case 8:
        entry->table.kind = LKS_TABLE_INLINE;
        entry->table.frames = frames;
        break;
    default:
        entry->footer_crc = 1;
        break;
    }
}

static void a_footer_that_disagrees_is_found(void **state)
{
    static const char *const what[] = {
        "another stream",   "another mesh",  "another producer",
        "another epoch",    "another owner", "another seq",
        "another size of",  "another slice", "another slice",
        "not the one that",
    };

    (void)state;
    for (int i = 0; i < 10; i++) {
        if (i > 0)
            forge_done(&forge);
        forge_init(&forge, 2, 1, 1);
        forge.alter = break_footer;
        forge.alter_arg = &i;
        forge_append(&forge, 0, 1);
        assert_found(false, 1, "data/p0/1-", what[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        VERIFY_TEST(a_flipped_byte_in_an_old_manifest_is_found),
        VERIFY_TEST(a_gap_among_young_manifests_is_found),
        VERIFY_TEST(a_gap_below_an_old_manifest_is_not_damage),
        VERIFY_TEST(reclaimed_manifests_are_not_missed),
        VERIFY_TEST(lost_newest_manifests_are_found_by_what_they_named),
        VERIFY_TEST(a_version_of_another_history_is_found),
        VERIFY_TEST(a_producer_that_leaves_the_map_is_found),
        VERIFY_TEST(a_step_that_a_stranger_to_its_version_added_is_found),
        VERIFY_TEST(a_version_that_takes_steps_back_is_found),
        VERIFY_TEST(an_append_after_the_end_is_found),
        VERIFY_TEST(a_seq_that_skips_is_found),
        VERIFY_TEST(a_seq_that_is_repeated_is_found),
        VERIFY_TEST(an_epoch_that_goes_back_is_found),
        VERIFY_TEST(two_owners_of_an_epoch_are_found),
        VERIFY_TEST(a_finish_that_is_undone_is_found),
        VERIFY_TEST(an_offset_in_the_map_that_no_tgb_has_is_found),
        VERIFY_TEST(offsets_that_do_not_join_are_found),
        VERIFY_TEST(a_first_tgb_that_does_not_begin_at_the_beginning_is_found),
        VERIFY_TEST(a_footer_that_disagrees_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
