/*
 * The model's chain of manifests: what pacing reads in them, and no more.
 */
#include <stdlib.h>
#include <string.h>

#include "pacing_model.h"

bool model_chain_init(struct model_chain *chain, uint32_t producers)
{
    *chain = (struct model_chain){.producers = producers};
    chain->versions = calloc(MODEL_HISTORY, sizeof(struct model_version));
    if (chain->versions == NULL)
        return false;
    for (size_t i = 0; i < MODEL_HISTORY; i++) {
        struct model_version *version = &chain->versions[i];

        version->ring.count = producers;
        version->ring.last = UINT32_MAX;
        version->ring.places = calloc(producers, sizeof(struct lks_ring_place));
        version->last_commit = calloc(producers, sizeof(uint64_t));
        if (version->ring.places == NULL || version->last_commit == NULL)
            return false;
    }
    return true;
}

void model_chain_done(struct model_chain *chain)
{
    for (size_t i = 0; chain->versions != NULL && i < MODEL_HISTORY; i++) {
        free(chain->versions[i].ring.places);
        free(chain->versions[i].last_commit);
    }
    free(chain->versions);
}

struct model_version *model_chain_at(const struct model_chain *chain,
                                     uint64_t version)
{
    return &chain->versions[version % MODEL_HISTORY];
}

void model_chain_view(const struct model_chain *chain,
                      uint64_t version,
                      uint32_t who,
                      struct lks_pacing_view *out_view)
{
    const struct model_version *found = model_chain_at(chain, version);
    uint64_t span = 4 * (uint64_t)chain->producers;

    out_view->version = version;
    out_view->active = 0;
    for (uint32_t i = 0; i < chain->producers; i++)
        out_view->active += found->last_commit[i] > 0 &&
                            found->last_commit[i] + span >= version;
    lks_ring_turn(&found->ring, version, who, &out_view->turn);
}

struct model_version *model_chain_add(struct model_chain *chain,
                                      uint32_t who,
                                      uint64_t steps,
                                      double now,
                                      double attempt_ns)
{
    const struct model_version *base = model_chain_at(chain, chain->head);
    struct model_version *next = model_chain_at(chain, chain->head + 1);
    struct lks_ring_place *places = next->ring.places;

    memcpy(places, base->ring.places, chain->producers * sizeof(*places));
    memcpy(next->last_commit, base->last_commit,
           chain->producers * sizeof(uint64_t));
    next->ring = base->ring;
    next->ring.places = places;
    lks_ring_commit(&next->ring, chain->head, who, attempt_ns);
    next->landed = now;
    next->by = who;
    next->steps = base->steps + steps;
    chain->head++;
    next->last_commit[who] = chain->head;
    return next;
}
