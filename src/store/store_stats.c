/*
 * What was asked of a store, in numbers: requests are money.
 */
#include "store/store.h"

static const char *const names[LKS_REQUEST_COUNT] = {
    [LKS_REQUEST_GET] = "gets",       [LKS_REQUEST_STAT] = "stats",
    [LKS_REQUEST_PUT] = "puts",       [LKS_REQUEST_LIST] = "lists",
    [LKS_REQUEST_REMOVE] = "removes",
};

void lks_store_put_stats(struct lks_store *store, struct lks_json_out *out)
{
    for (int kind = 0; kind < LKS_REQUEST_COUNT; kind++)
        lks_json_out_u64(out, names[kind],
                         atomic_load(&store->request_counts[kind]));
}
