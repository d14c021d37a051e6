/*
 * One request to a simulated bucket, from sending to reply. It outlives a
 * sender that gave up or was killed.
 */
#ifndef LKS_SIM_REQUEST_H
#define LKS_SIM_REQUEST_H

#include "sim/sim_bucket.h"

enum sim_request_kind {
    SIM_GET,
    SIM_PUT,
    SIM_LIST,
    SIM_REMOVE,
    SIM_STAT,
};

/* What happens to it, decided when it is sent. */
struct sim_way {
    bool lost;
    bool silent;
    bool throttled;
    uint64_t there_ns;
    uint64_t stamp_ns; /* from being served to being dated */
    uint64_t back_ns;
    uint64_t again_ns; /* 0: it arrives once */
};

struct sim_request {
    struct sim_bucket *bucket;
    enum sim_request_kind kind;
    uint32_t reference_count;
    char key[LKS_KEY_SIZE_MAX + 1]; /* LIST: the prefix */
    char after[LKS_KEY_SIZE_MAX + 1];
    bool only_if_absent;
    uint8_t *data; /* PUT: a copy of its own */
    size_t size;
    size_t max_size; /* GET: of the reply */
    size_t max;      /* LIST */
    char **keys;     /* REMOVE */
    size_t key_count;
    int64_t slow_put_ms;
    struct sim_way way;

    struct sim_fiber *waiter; /* NULL once it gave up */
    bool replied;
    enum lks_status status;
    bool throttled;
    int64_t date_ms;
    struct sim_object *object;
    struct lks_listed *listed;
    size_t listed_count;
};

struct sim_request *sim_request_new(enum sim_request_kind kind,
                                    const char *key);
struct sim_request *sim_request_acquire(struct sim_request *request);
void sim_request_release(struct sim_request *request);

/* On its way from here on. */
void sim_request_send(struct sim_bucket *bucket, struct sim_request *request);

#endif
