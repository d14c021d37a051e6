/*
 * What `pack` was asked for, and where in a TGB each token goes.
 *
 * A TGB holds dp * M consecutive sequences of L tokens. Sequence i is row
 * i mod M of the slices with d = i div M. Each row is cut for the cp ranks:
 * into cp equal parts, or into 2 * cp chunks, of which rank c gets chunk c and
 * the one as far from the end, so that with causal attention all ranks have
 * the same work ("zigzag").
 */
#include "pack_plan.h"

#include <inttypes.h>
#include <string.h>

#include "report.h"

#define SHARD_COUNT_MAX 65536u

static bool parse_shard(const char *text,
                        uint64_t *out_index,
                        uint64_t *out_count)
{
    const char *slash = strchr(text, '/');
    char index[16];

    if (slash == NULL || (size_t)(slash - text) >= sizeof(index))
        return false;
    memcpy(index, text, (size_t)(slash - text));
    index[slash - text] = '\0';
    return number_parse(index, out_index) &&
           number_parse(slash + 1, out_count) && *out_index < *out_count &&
           *out_count <= SHARD_COUNT_MAX;
}

int pack_plan_parse(struct pack_plan *plan, const struct args *args)
{
    *plan = (struct pack_plan){
        .seq_len = args_number(args, "seq-len"),
        .micro_batch = args_number(args, "micro-batch"),
        .pad_token = args_signed(args, "pad-token"),
        .drop_last = strcmp(args_text(args, "last"), "drop") == 0,
        .labels = args_given(args, "labels"),
        .zigzag = strcmp(args_text(args, "cp-layout"), "zigzag") == 0,
        .recheck_all = strcmp(args_text(args, "recheck"), "all") == 0,
        .finish = args_given(args, "finish"),
    };
    token_type_parse(args_text(args, "dtype"), &plan->bin_type);
    if (!parse_shard(args_text(args, "shard"), &plan->shard,
                     &plan->shard_count))
        return report_usage(args->command,
                            "--shard must be I/N with I below "
                            "N and N up to %u, as in 0/4, not \"%s\"",
                            SHARD_COUNT_MAX, args_text(args, "shard"));
    return EXIT_DONE;
}

const char *pack_plan_cp_layout(const struct pack_plan *plan)
{
    return plan->zigzag ? "zigzag" : "contiguous";
}

static void write_header(struct pack_plan *plan)
{
    static const char *const dtypes[] = {
        [TOKEN_U16] = "U16",
        [TOKEN_U32] = "U32",
        [TOKEN_I32] = "I32",
    };
    const struct safetensors_shape shape = {
        .dtype = dtypes[plan->type],
        .width = token_type_width(plan->type),
        .rows = plan->micro_batch,
        .columns = plan->seq_len / plan->cp,
        .labels = plan->labels,
        .cp_layout = pack_plan_cp_layout(plan),
    };

    plan->header_size = safetensors_header(&shape, plan->header);
}

enum lks_status pack_plan_fit(struct pack_plan *plan,
                              uint32_t dp,
                              uint32_t cp,
                              enum token_type type,
                              struct lks_error *error)
{
    uint64_t parts = plan->zigzag ? 2 * (uint64_t)cp : cp, size;

    plan->type = type;
    plan->cp = cp;
    if (plan->seq_len % parts != 0)
        return fail(error, LKS_INVALID,
                    "--seq-len %" PRIu64 " must be a "
                    "multiple of %" PRIu64 " to be cut for the stream's cp of "
                    "%" PRIu32,
                    plan->seq_len, parts, cp);
    if (!token_type_holds(type, plan->pad_token))
        return fail(error, LKS_INVALID,
                    "--pad-token %" PRId64 " is no %s, "
                    "which the tokens are",
                    plan->pad_token, token_type_name(type));

    write_header(plan);
    plan->tensor_size =
        plan->micro_batch * (plan->seq_len / cp) * token_type_width(type);
    size = plan->header_size + plan->tensor_size * (plan->labels ? 2 : 1);
    if (size > LKS_SLICE_SIZE_MAX)
        return fail(error, LKS_INVALID,
                    "a slice would have %" PRIu64
                    " bytes, and may have %u; use a smaller --seq-len or "
                    "--micro-batch",
                    size, LKS_SLICE_SIZE_MAX);

    plan->slice_size = (size_t)size;
    plan->slice_stride = (plan->slice_size + SAFETENSORS_ALIGNMENT - 1) /
                         SAFETENSORS_ALIGNMENT * SAFETENSORS_ALIGNMENT;
    plan->slice_count = (uint64_t)dp * cp;
    plan->chunk_tokens = plan->seq_len / parts;
    plan->chunks_per_sequence = parts;
    plan->chunk_count = dp * plan->micro_batch * parts;
    return LKS_OK;
}

uint64_t pack_plan_tgb_tokens(const struct pack_plan *plan)
{
    return plan->chunk_count * plan->chunk_tokens;
}

size_t pack_plan_tgb_size(const struct pack_plan *plan)
{
    return (size_t)plan->slice_count * plan->slice_stride;
}

uint8_t *pack_plan_chunk(const struct pack_plan *plan,
                         uint8_t *buffer,
                         uint64_t index)
{
    uint64_t sequence = index / plan->chunks_per_sequence;
    uint64_t chunk = index % plan->chunks_per_sequence;
    uint64_t dp_rank = sequence / plan->micro_batch;
    uint64_t row = sequence % plan->micro_batch;
    uint64_t columns = plan->seq_len / plan->cp;
    uint64_t cp_rank = chunk, column = 0;

    if (chunk >= plan->cp) { /* The second half of a zigzag. */
        cp_rank = 2 * plan->cp - 1 - chunk;
        column = plan->chunk_tokens;
    }
    return buffer + (dp_rank * plan->cp + cp_rank) * plan->slice_stride +
           plan->header_size +
           (row * columns + column) * token_type_width(plan->type);
}
