/*
 * Which run this process is part of: an id that is the same on all ranks, and
 * new, or of a higher attempt, at every start.
 *
 * An id that stayed the same over a restart would keep a dead job's watermarks
 * valid, and the step that the restart needs could be deleted. docs/protocol.md
 * "Groups and runs".
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/env_launcher.h"
#include "consumer/run.h"

enum lks_status lks_member_parse_run(struct lks_member *member,
                                     const char *text,
                                     struct lks_error *error)
{
    const char *dot = strrchr(text, '.');
    size_t size = strlen(text);
    uint64_t attempt = 0;
    enum lks_status status;

    if (dot != NULL && dot[1] == '-' && lks_parse_u64(dot + 2, &attempt))
        return lks_error_set(error, LKS_INVALID,
                             "run \"%.80s\": its attempt is below 0", text);
    if (dot != NULL && lks_parse_u64(dot + 1, &attempt))
        size = (size_t)(dot - text);
    if (size >= sizeof(member->id))
        return lks_error_set(error, LKS_INVALID,
                             "run \"%.64s...\": its id is longer than 64 bytes",
                             text);
    if (attempt > LKS_STEP_MAX)
        return lks_error_set(error, LKS_INVALID,
                             "run \"%s\": its attempt is past 2^63 - 1", text);
    memcpy(member->id, text, size);
    member->id[size] = '\0';
    status = lks_id_check("run", member->id, error);
    if (status == LKS_OK)
        member->attempt = attempt;
    return status;
}

static enum lks_status take_launch(struct lks_member *member,
                                   const struct lks_launch *launch,
                                   struct lks_error *error)
{
    if (!lks_id_is_valid(launch->id))
        return lks_error_set(error, LKS_INVALID,
                             "%s \"%.64s\" cannot name a run: set the option "
                             "run, or LAKESTREAM_RUN",
                             launch->variable, launch->id);
    memcpy(member->id, launch->id, strlen(launch->id) + 1);
    member->attempt = launch->restart;
    return LKS_OK;
}

/* Fresh: whoever starts the job again makes another one. */
static void draw_id(struct lks_member *member)
{
    uint8_t nonce[8];
    char digits[2 * sizeof(nonce) + 1];

    lks_env_random(member->stream->env, nonce, sizeof(nonce));
    lks_hex_encode(nonce, sizeof(nonce), digits);
    snprintf(member->id, sizeof(member->id), "single-%s", digits);
    member->attempt = 0;
}

enum lks_status lks_member_choose(struct lks_member *member,
                                  const struct lks_options *options,
                                  uint32_t rank,
                                  uint32_t ranks,
                                  struct lks_error *error)
{
    const char *group = lks_options_text(options, LKS_OPTION_GROUP);
    const char *run = lks_options_text(options, LKS_OPTION_RUN);
    struct lks_launch launch;
    enum lks_status status;

    if (group[0] == '\0')
        return LKS_OK;
    status = lks_id_check("group", group, error);
    if (status != LKS_OK)
        return status;
    memcpy(member->group, group, strlen(group) + 1);
    member->rank = rank;
    member->ranks = ranks;
    member->for_all = lks_options_number(options, LKS_OPTION_WATERMARK) != 0;
    if (run[0] != '\0')
        return lks_member_parse_run(member, run, error);
    if (lks_env_launch(&launch))
        return take_launch(member, &launch, error);
    if (ranks > 1)
        return lks_error_set(error, LKS_INVALID,
                             "group %s has %" PRIu32 " ranks and no run: set "
                             "the option run, or LAKESTREAM_RUN, the same on "
                             "all ranks and new at every start",
                             group, ranks);
    draw_id(member);
    return LKS_OK;
}
