/*
 * lakestream pack: text and token files into TGBs, resuming by itself.
 *
 * The offset of each TGB says where in the input the next one starts, so a
 * worker that is started again, by whomever and after whatever, goes on there:
 * each token of each file gets into the stream exactly once.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "known_producer.h"
#include "pack_buffers.h"
#include "pack_history.h"
#include "pack_offset.h"
#include "pack_plan.h"
#include "progress.h"
#include "report.h"
#include "stream_args.h"
#include "token_source.h"

#define SEQ_LEN_MAX (INT64_C(1) << 31)
#define MICRO_BATCH_MAX 65536

static const struct arg_option options[] = {
    PRODUCER_OPTION,
    {.name = "seq-len",
     .type = ARG_COUNT,
     .value = "L",
     .required = true,
     .min = 1,
     .max = SEQ_LEN_MAX,
     .text = "tokens of a sequence"},
    {.name = "micro-batch",
     .type = ARG_COUNT,
     .value = "M",
     .preset = "1",
     .min = 1,
     .max = MICRO_BATCH_MAX,
     .text = "sequences of a slice"},
    {.name = "shard",
     .type = ARG_TEXT,
     .value = "I/N",
     .preset = "0/1",
     .text = "pack only the files k with k mod N = I"},
    {.name = "dtype",
     .type = ARG_CHOICE,
     .value = "u16|u32|i32",
     .preset = "u16",
     .text = "what .bin files hold"},
    {.name = "cp-layout",
     .type = ARG_CHOICE,
     .value = "contiguous|zigzag",
     .preset = "contiguous",
     .text = "how a row is cut for the cp ranks"},
    {.name = "last",
     .type = ARG_CHOICE,
     .value = "pad|drop",
     .preset = "pad",
     .text = "what to do with a last TGB that is not full"},
    {.name = "pad-token",
     .type = ARG_SIGNED,
     .value = "T",
     .preset = "256",
     .min = INT32_MIN,
     .max = UINT32_MAX,
     .text = "what to fill it with"},
    {.name = "labels",
     .type = ARG_FLAG,
     .text = "add the tensor labels: the tokens, shifted by one"},
    {.name = "recheck",
     .type = ARG_CHOICE,
     .value = "all|last",
     .preset = "all",
     .text = "on resuming, read again all that was packed, "
             "or of the last file only"},
    {.name = "finish",
     .type = ARG_FLAG,
     .text = "mark the producer finished at the end"},
};

static const char more[] =
    "Text becomes tokens of type u16: one for each byte, and 256 after each\n"
    "file. Files named *.bin and *.npy hold tokens, and get none added. Each\n"
    "slice is a safetensors file with the tensor `tokens` of shape\n"
    "[M, L / cp], and `labels` of the same shape if asked for.\n"
    "\n"
    "Started again with the same --producer, it goes on behind what it has\n"
    "committed. It knows files by their names as given and by their order,\n"
    "so give the same ones in the same order; more may follow.\n";

struct pack {
    struct args *args;
    struct pack_plan plan;
    struct token_source source;
    struct pack_buffers buffers;
    bool buffers_made;
    struct stream_user user;
    struct progress progress;

    uint64_t seq_start;  /* the seq that this run started at */
    uint64_t data_start; /* bytes of input that were there already */
    uint64_t tokens;
    uint64_t padding;
    uint64_t dropped; /* tokens, which the next run would read again */
    double seconds;
};

/*
 * Labels are the tokens, one place on: token i + 1 of the packed sequence of
 * tokens, across rows and TGBs. The very last has none, and gets the pad token.
 */
static enum lks_status fill_labels(struct pack *pack,
                                   uint8_t *bytes,
                                   struct lks_error *error)
{
    const struct pack_plan *plan = &pack->plan;
    size_t width = token_type_width(plan->type);
    size_t kept = (size_t)(plan->chunk_tokens - 1) * width;
    uint8_t next[TOKEN_WIDTH_MAX];
    enum lks_status status;
    bool has = false;

    status = token_source_peek(&pack->source, next, &has, error);
    if (status != LKS_OK)
        return status;
    if (!has)
        token_fill(next, plan->type, plan->pad_token, 1);

    for (uint64_t i = plan->chunk_count; i-- > 0;) {
        const uint8_t *tokens = pack_plan_chunk(plan, bytes, i);
        uint8_t *labels = pack_plan_chunk(plan, bytes, i) + plan->tensor_size;

        memcpy(labels, tokens + width, kept);
        memcpy(labels + kept, next, width);
        memcpy(next, tokens, width);
    }
    return LKS_OK;
}

/* Fills a buffer with the next tokens; *out_count is how many there were. */
static enum lks_status fill_tokens(struct pack *pack,
                                   uint8_t *bytes,
                                   uint64_t *out_count,
                                   struct lks_error *error)
{
    const struct pack_plan *plan = &pack->plan;
    size_t width = token_type_width(plan->type);
    uint64_t count = 0;

    for (uint64_t i = 0; i < plan->chunk_count; i++) {
        uint8_t *chunk = pack_plan_chunk(plan, bytes, i);
        enum lks_status status;
        uint64_t part = 0;

        status = token_source_read(&pack->source, chunk, plan->chunk_tokens,
                                   &part, error);
        if (status != LKS_OK)
            return status;
        token_fill(chunk + part * width, plan->type, plan->pad_token,
                   plan->chunk_tokens - part);
        count += part;
    }
    *out_count = count;
    return LKS_OK;
}

/* Appends a full buffer, and gives it away if that succeeds. */
static enum lks_status append(struct pack *pack,
                              struct pack_buffer *buffer,
                              uint64_t padding,
                              struct lks_error *error)
{
    char *meta = token_source_take_meta(&pack->source, padding);
    char offset[LKS_OFFSET_SIZE_MAX + 1];
    enum lks_status status = LKS_OK;
    struct source_place place;
    size_t offset_size;

    if (meta == NULL)
        return fail(error, LKS_NO_MEMORY, "out of memory");
    token_source_place(&pack->source, &place);
    offset_size = pack_offset_write(&pack->plan, &place, offset);
    if (pack->plan.labels)
        status = fill_labels(pack, buffer->bytes, error);
    if (status == LKS_OK)
        status = lks_producer_append(pack->user.producer, buffer->slices,
                                     pack->plan.slice_count, offset,
                                     offset_size, meta, strlen(meta),
                                     pack_buffer_release, buffer, error);
    free(meta);
    return status;
}

static enum lks_status pack_all(struct pack *pack, struct lks_error *error)
{
    uint64_t full = pack_plan_tgb_tokens(&pack->plan), count = full;
    enum lks_status status = LKS_OK;

    while (status == LKS_OK && count == full) {
        struct pack_buffer *buffer = NULL;

        status = pack_buffers_acquire(&pack->buffers, &buffer, error);
        if (status != LKS_OK)
            break;
        status = fill_tokens(pack, buffer->bytes, &count, error);
        if (status != LKS_OK || count == 0 ||
            (count < full && pack->plan.drop_last)) {
            pack_buffer_release(buffer);
            if (status == LKS_OK)
                pack->dropped = count;
            break;
        }
        status = append(pack, buffer, full - count, error);
        if (status != LKS_OK) {
            pack_buffer_release(buffer);
            break;
        }
        pack->tokens += count;
        pack->padding += full - count;
        progress_show(&pack->progress, pack->source.data_done);
    }
    return status;
}

/* The files, and how they go into TGBs. */
static enum lks_status open_source(struct pack *pack, struct lks_error *error)
{
    const struct args *args = pack->args;
    struct lks_stream *stream = pack->user.stream;
    enum lks_status status;

    status = token_source_open(&pack->source, &pack->plan, args->operands + 1,
                               args->operand_count - 1, error);
    if (status != LKS_OK)
        return status;
    return pack_plan_fit(&pack->plan, lks_stream_dp(stream),
                         lks_stream_cp(stream),
                         token_source_type(&pack->source), error);
}

/* Whether the library takes TGBs of this size, but for their metadata. */
static enum lks_status check_size(const struct pack *pack,
                                  struct lks_error *error)
{
    const struct pack_plan *plan = &pack->plan;
    struct lks_slice *slices = calloc(plan->slice_count, sizeof(*slices));
    enum lks_status status;

    if (slices == NULL)
        return fail(error, LKS_NO_MEMORY, "out of memory");
    for (uint64_t i = 0; i < plan->slice_count; i++)
        slices[i].size = plan->slice_size;
    status = lks_producer_check(pack->user.stream, slices, plan->slice_count, 0,
                                pack->args->options, error);
    free(slices);
    return status;
}

/* Goes to where the last TGB of this producer ends. */
static enum lks_status resume(struct pack *pack,
                              const struct known_producer *known,
                              struct lks_error *error)
{
    const char *producer = args_text(pack->args, "producer");
    struct source_place place;
    enum lks_status status;
    bool earlier = false;

    pack->seq_start = known->next_seq;
    pack->data_start = 0;
    if (known->next_seq == 0)
        return LKS_OK;
    status = pack_offset_read(known->offset, known->offset_size, &pack->plan,
                              &place, error);
    if (status == LKS_OK)
        status = token_source_resume(&pack->source, &place, &earlier, error);
    pack->data_start = pack->source.data_done;
    if (earlier)
        pack_history_find_changed(pack->user.stream, producer, &pack->source,
                                  error);
    return status;
}

/* Everything that can be found wrong without touching the stream. *out_known
 * is what the producer was taken to have committed. */
static enum lks_status prepare(struct pack *pack,
                               struct known_producer *out_known,
                               struct lks_error *error)
{
    const struct args *args = pack->args;
    struct stream_user *user = &pack->user;
    enum lks_status status;

    status = stream_user_open(args, user, error);
    if (status == LKS_OK)
        status = open_source(pack, error);
    if (status == LKS_OK)
        status = check_size(pack, error);
    if (status == LKS_OK)
        status = pack_buffers_init(&pack->buffers, &pack->plan, error);
    pack->buffers_made = status == LKS_OK;
    if (status == LKS_OK)
        status = known_producer_look(user->stream, args_text(args, "producer"),
                                     out_known, error);
    if (status == LKS_OK)
        status = resume(pack, out_known, error);
    return status;
}

/* Opens the producer. If the incarnation that this fences has moved on since
 * `known`, all is checked again. */
static enum lks_status produce(struct pack *pack,
                               const struct known_producer *known,
                               struct lks_error *error)
{
    struct known_producer opened;
    enum lks_status status;

    status = stream_user_produce(pack->args, &pack->user, error);
    if (status != LKS_OK)
        return status;
    known_producer_take(pack->user.producer, &opened);
    if (known_producer_equal(known, &opened))
        return LKS_OK;
    token_source_close(&pack->source);
    status = open_source(pack, error);
    if (status == LKS_OK)
        status = resume(pack, &opened, error);
    return status;
}

static enum lks_status pack_files(struct pack *pack, struct lks_error *error)
{
    struct known_producer known;
    enum lks_status status;
    double started;

    status = prepare(pack, &known, error);
    if (status == LKS_OK)
        status = produce(pack, &known, error);
    if (status != LKS_OK)
        return status;

    progress_start(&pack->progress, "packing", pack->source.data_size,
                   pack->args->verbosity == 0);
    started = seconds_now();
    status = pack_all(pack, error);
    if (status == LKS_OK)
        status = pack->plan.finish
                     ? lks_producer_finish(pack->user.producer, error)
                     : lks_producer_flush(pack->user.producer, error);
    pack->seconds = seconds_now() - started;
    progress_stop(&pack->progress);
    return status;
}

static void print_summary(const struct pack *pack,
                          const json_t *report,
                          const json_t *latency)
{
    const char *const keys[] = {"tgbs", "tokens", "padding", "commits",
                                "conflicts"};

    printf("packed");
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        printf("%s %" JSON_INTEGER_FORMAT " %s", i > 0 ? "," : "",
               json_integer_value(json_object_get(report, keys[i])), keys[i]);
    if (pack->plan.drop_last)
        printf("; dropped the last %" PRIu64 " token%s", pack->dropped,
               plural(pack->dropped));
    printf("; %.1f MB/s",
           json_number_value(json_object_get(report, "mb_per_s")));
    printf("; append to visible p50 %.1f ms, p95 %.1f ms\n",
           json_number_value(json_object_get(latency, "p50")),
           json_number_value(json_object_get(latency, "p95")));
}

/* What this run did, with the producer's own counters. */
static int report_pack(struct pack *pack)
{
    const struct args *args = pack->args;
    uint64_t seq = lks_producer_next_seq(pack->user.producer);
    uint64_t bytes = (seq - pack->seq_start) * pack->plan.slice_count *
                     pack->plan.slice_size;
    struct lks_error error;
    json_t *report, *stats;
    char *text = NULL;

    if (lks_producer_stats(pack->user.producer, &text, &error) != LKS_OK)
        return report_error(args, &error);
    stats = report_parse(text);
    report = json_pack(
        "{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:b}",
        "producer", args_text(args, "producer"), "first_seq",
        (json_int_t)pack->seq_start, "next_seq", (json_int_t)seq, "files",
        (json_int_t)pack->source.file_count, "input_bytes",
        (json_int_t)(pack->source.data_done - pack->data_start), "tokens",
        (json_int_t)pack->tokens, "padding", (json_int_t)pack->padding,
        "dropped", (json_int_t)pack->dropped, "bytes", (json_int_t)bytes,
        "seconds", pack->seconds, "mb_per_s",
        pack->seconds > 0 ? (double)bytes / 1e6 / pack->seconds : 0.0,
        "finished", pack->plan.finish);
    json_object_update_missing(report, stats);
    json_decref(stats);

    if (args->json)
        return report_json(args, report);
    print_summary(pack, report,
                  json_object_get(report, "append_to_visible_ms"));
    json_decref(report);
    return EXIT_DONE;
}

static int run(struct args *args)
{
    struct pack *pack = calloc(1, sizeof(*pack));
    struct lks_error error;
    int code;

    if (pack == NULL)
        return report_failure(args, "out of memory");
    pack->args = args;
    code = pack_plan_parse(&pack->plan, args);
    if (code == EXIT_DONE) {
        code = pack_files(pack, &error) == LKS_OK ? report_pack(pack)
                                                  : report_error(args, &error);
        /* The library gives all buffers back here at the latest. */
        stream_user_close(&pack->user);
        if (pack->buffers_made)
            pack_buffers_done(&pack->buffers);
        token_source_close(&pack->source);
    }
    free(pack);
    return code;
}

const struct command command_pack = {
    .name = "pack",
    .operands = "URL FILE...",
    .operands_min = 2,
    .operands_max = SIZE_MAX,
    .opens = true,
    .reads = "producer|change",
    .reports = true,
    .text = "Pack text or token files into TGBs; goes on where it was",
    .more = more,
    .options = options,
    .option_count = COUNT_OF(options),
    .run = run,
};
