/*
 * States: one line that people and checkpoints carry around.
 *
 * It may come back re-indented, or re-ordered by another JSON library, so it is
 * parsed as JSON and not compared as text. docs/format.md, "State".
 */
#include "format/state.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "format/json_text.h"

#define STATE_VERSION 1
#define STATE_TEXT_MAX (16u * LKS_STATE_SIZE_MAX) /* room for indentation */

void lks_state_encode(const uint8_t stream[LKS_ID_SIZE],
                      uint64_t step,
                      char text[LKS_STATE_SIZE_MAX])
{
    char digits[2 * LKS_ID_SIZE + 1];

    assert(step <= LKS_STEP_MAX);

    lks_hex_encode(stream, LKS_ID_SIZE, digits);
    snprintf(text, LKS_STATE_SIZE_MAX,
             "{\"version\": %d, \"stream\": \"%s\", \"step\": %" PRIu64 "}",
             STATE_VERSION, digits, step);
}

static enum lks_status read_state(const json_t *object,
                                  uint8_t out_stream[LKS_ID_SIZE],
                                  uint64_t *out_step,
                                  struct lks_error *error)
{
    uint64_t version;
    uint64_t step;

    if (!lks_json_number(object, "version", INT64_MAX, &version) ||
        version == 0)
        return lks_error_set(error, LKS_INVALID,
                             "the state has no valid \"version\"");
    if (version > STATE_VERSION)
        return lks_error_set(error, LKS_UNSUPPORTED,
                             "the state has version %" PRIu64
                             "; this version of Lakestream reads %d",
                             version, STATE_VERSION);
    if (!lks_json_number(object, "step", LKS_STEP_MAX, &step))
        return lks_error_set(error, LKS_INVALID,
                             "the state has no valid \"step\"");
    if (!lks_json_id(object, "stream", out_stream))
        return lks_error_set(error, LKS_INVALID,
                             "the state has no valid \"stream\"");
    *out_step = step;
    return LKS_OK;
}

enum lks_status lks_state_decode(const char *text,
                                 uint8_t out_stream[LKS_ID_SIZE],
                                 uint64_t *out_step,
                                 struct lks_error *error)
{
    size_t size = strnlen(text, STATE_TEXT_MAX + 1);
    enum lks_status status;
    json_t *object;

    if (size > STATE_TEXT_MAX)
        return lks_error_set(error, LKS_INVALID,
                             "a state is no longer than %u bytes",
                             STATE_TEXT_MAX);
    status = lks_json_parse(text, size, "state", LKS_INVALID, &object, error);
    if (status != LKS_OK)
        return status;
    status = read_state(object, out_stream, out_step, error);
    json_decref(object);
    return status;
}
