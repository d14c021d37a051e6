/*
 * Meshes: whatever the ranks' mesh, each slice of each training step is read
 * exactly once.
 */
#include "consumer/mesh.h"

#include "support/check.h"

#define MESH_MAX 12u

/* Counts how often the ranks of dp x cp read each slice of `group` TGBs. */
static void check_mesh(uint32_t stream_dp, uint32_t cp, uint32_t dp)
{
    uint32_t group = dp > stream_dp ? dp / stream_dp : 1;
    uint32_t slices = stream_dp * cp;
    uint32_t *counts = calloc((size_t)group * slices, sizeof(*counts));
    struct lks_error error;

    assert_non_null(counts);
    for (uint32_t rank = 0; rank < dp * cp; rank++) {
        struct lks_share share;

        assert_status(LKS_OK, lks_share_find(stream_dp, cp, rank, dp, cp,
                                             &share, &error));
        assert_int_equal(share.group, group);
        assert_true(share.place < group);
        for (uint32_t i = 0; i < share.slice_count; i++) {
            uint32_t slice = share.slice_first + i * share.slice_stride;

            assert_true(slice < slices);
            assert_int_equal(slice % cp, rank % cp);
            counts[share.place * slices + slice]++;
        }
    }
    for (uint32_t i = 0; i < group * slices; i++)
        assert_int_equal(counts[i], 1);
    free(counts);
}

static void every_slice_is_read_exactly_once(void **state)
{
    (void)state;
    for (uint32_t stream_dp = 1; stream_dp <= MESH_MAX; stream_dp++) {
        for (uint32_t dp = 1; dp <= 4 * MESH_MAX; dp++) {
            if (stream_dp % dp != 0 && dp % stream_dp != 0)
                continue;
            for (uint32_t cp = 1; cp <= 4; cp++)
                check_mesh(stream_dp, cp, dp);
        }
    }
}

static void fewer_ranks_read_neighbouring_slices(void **state)
{
    struct lks_share share;
    struct lks_error error;

    (void)state;
    assert_status(LKS_OK, lks_share_find(8, 2, 3, 2, 2, &share, &error));
    assert_int_equal(share.group, 1);
    assert_int_equal(share.slice_count, 4);
    assert_int_equal(share.slice_first, 4 * 2 + 1);
    assert_int_equal(share.slice_stride, 2);
}

static void more_ranks_read_tgbs_in_a_row(void **state)
{
    struct lks_share share;
    struct lks_error error;

    (void)state;
    assert_status(LKS_OK, lks_share_find(2, 1, 5, 6, 1, &share, &error));
    assert_int_equal(share.group, 3);
    assert_int_equal(share.place, 2);
    assert_int_equal(share.slice_count, 1);
    assert_int_equal(share.slice_first, 1);
}

static void zeroes_mean_the_streams_own_mesh(void **state)
{
    struct lks_share share;
    struct lks_error error;

    (void)state;
    assert_status(LKS_OK, lks_share_find(3, 2, 5, 0, 0, &share, &error));
    assert_int_equal(share.group, 1);
    assert_int_equal(share.slice_count, 1);
    assert_int_equal(share.slice_first, 5);
}

static void what_does_not_divide_is_refused(void **state)
{
    struct lks_share share;
    struct lks_error error;

    (void)state;
    for (uint32_t stream_dp = 1; stream_dp <= MESH_MAX; stream_dp++) {
        for (uint32_t dp = 1; dp <= 4 * MESH_MAX; dp++) {
            if (stream_dp % dp == 0 || dp % stream_dp == 0)
                continue;
            assert_status(LKS_INVALID, lks_share_find(stream_dp, 1, 0, dp, 1,
                                                      &share, &error));
        }
    }
    assert_status(LKS_INVALID, lks_share_find(4, 1, 0, 6, 1, &share, &error));
    assert_message_has("dp 6 neither divides the stream's dp 4");
}

static void another_cp_is_refused(void **state)
{
    struct lks_share share;
    struct lks_error error;

    (void)state;
    assert_status(LKS_INVALID, lks_share_find(4, 2, 0, 4, 4, &share, &error));
    assert_message_has("cp 4 is not the stream's cp 2");
    assert_message_has("can't be split");
}

static void a_rank_beyond_the_mesh_is_refused(void **state)
{
    struct lks_share share;
    struct lks_error error;

    (void)state;
    assert_status(LKS_INVALID, lks_share_find(4, 2, 8, 0, 0, &share, &error));
    assert_message_has("from 0 to 7");
    assert_status(LKS_INVALID,
                  lks_share_find(4, 2, UINT32_MAX, 2, 0, &share, &error));
}

static void a_mesh_beyond_the_limit_is_refused(void **state)
{
    struct lks_share share;
    struct lks_error error;

    (void)state;
    assert_status(LKS_INVALID,
                  lks_share_find(65536, 1, 0, 131072, 1, &share, &error));
    assert_status(LKS_INVALID,
                  lks_share_find(2, 2, 0, 0x80000000u, 2, &share, &error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_slice_is_read_exactly_once),
        cmocka_unit_test(fewer_ranks_read_neighbouring_slices),
        cmocka_unit_test(more_ranks_read_tgbs_in_a_row),
        cmocka_unit_test(zeroes_mean_the_streams_own_mesh),
        cmocka_unit_test(what_does_not_divide_is_refused),
        cmocka_unit_test(another_cp_is_refused),
        cmocka_unit_test(a_rank_beyond_the_mesh_is_refused),
        cmocka_unit_test(a_mesh_beyond_the_limit_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
