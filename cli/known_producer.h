/*
 * What a stream knows of a producer, learned without becoming it: opening a
 * producer fences whoever has the id, so what can be wrong is looked at first.
 */
#ifndef LAKESTREAM_CLI_KNOWN_PRODUCER_H
#define LAKESTREAM_CLI_KNOWN_PRODUCER_H

#include <stdbool.h>

#include "lakestream.h"

#define KNOWN_IDS_SIZE 640u

struct known_producer {
    bool found;
    uint64_t next_seq; /* as those of the open producer */
    uint8_t offset[LKS_OFFSET_SIZE_MAX];
    size_t offset_size;
    char ids[KNOWN_IDS_SIZE]; /* of all producers: "a, b and 7 more" */
};

/* As the newest manifest has it. */
enum lks_status known_producer_look(struct lks_stream *stream,
                                    const char *id,
                                    struct known_producer *out_known,
                                    struct lks_error *error);

/* As the open producer has it, without the other ids. */
void known_producer_take(const struct lks_producer *producer,
                         struct known_producer *out_known);

/* Do both stand at the same place? */
bool known_producer_equal(const struct known_producer *left,
                          const struct known_producer *right);

#endif
