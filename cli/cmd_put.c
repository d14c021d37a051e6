/*
 * lakestream put: one TGB by hand, a file for each slice.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "commands.h"
#include "report.h"
#include "stream_args.h"

#define READ_SIZE_FIRST ((size_t)64 << 10)

static const struct arg_option options[] = {
    PRODUCER_OPTION,
    {.name = "offset",
     .type = ARG_TEXT,
     .value = "TEXT",
     .preset = "",
     .max = LKS_OFFSET_SIZE_MAX,
     .text = "where in its source the producer is after this TGB"},
    {.name = "meta",
     .type = ARG_TEXT,
     .value = "TEXT",
     .preset = "",
     .max = LKS_META_SIZE_MAX,
     .text = "a note for the readers"},
};

/* Room for more of a file whose size may not be known. */
static enum lks_status grow(char **data,
                            size_t *room,
                            const char *path,
                            struct lks_error *error)
{
    char *larger = realloc(*data, *room * 2);

    if (larger == NULL)
        return fail(error, LKS_NO_MEMORY, "out of memory at %zu bytes of %s",
                    *room, path);
    *data = larger;
    *room *= 2;
    return LKS_OK;
}

/* A whole file, or what a pipe gives; at most one slice. */
static enum lks_status read_file(const char *path,
                                 struct lks_slice *slice,
                                 struct lks_error *error)
{
    FILE *file = fopen(path, "rb");
    size_t room = READ_SIZE_FIRST, size = 0, got;
    enum lks_status status = LKS_OK;
    struct stat stat;
    char *data = NULL;

    if (file == NULL)
        return fail_errno(error, "open", path);
    if (fstat(fileno(file), &stat) == 0 && S_ISREG(stat.st_mode) &&
        stat.st_size < (off_t)LKS_SLICE_SIZE_MAX)
        room = (size_t)stat.st_size + 1; /* One more, to see the end. */

    data = malloc(room);
    if (data == NULL)
        status = fail(error, LKS_NO_MEMORY, "out of memory for %s", path);
    while (status == LKS_OK &&
           (got = fread(data + size, 1, room - size, file)) > 0) {
        size += got;
        if (size > LKS_SLICE_SIZE_MAX)
            status = fail(error, LKS_INVALID,
                          "%s is larger than the %u bytes "
                          "that a slice may have",
                          path, LKS_SLICE_SIZE_MAX);
        else if (size == room)
            status = grow(&data, &room, path, error);
    }
    if (status == LKS_OK && ferror(file))
        status = fail_errno(error, "read", path);
    fclose(file);

    if (status != LKS_OK) {
        free(data);
        return status;
    }
    slice->data = data;
    slice->size = size;
    return LKS_OK;
}

static enum lks_status check_mesh(const struct args *args,
                                  const struct lks_stream *stream,
                                  struct lks_error *error)
{
    uint32_t dp = lks_stream_dp(stream), cp = lks_stream_cp(stream);
    size_t files = args->operand_count - 1;

    if (files == (size_t)dp * cp)
        return LKS_OK;
    return fail(error, LKS_INVALID,
                "%s has a mesh of %" PRIu32 " x %" PRIu32
                ", so give %zu files, one per slice by rank; there are %zu",
                args->operands[0], dp, cp, (size_t)dp * cp, files);
}

static enum lks_status read_slices(const struct args *args,
                                   struct lks_slice *slices,
                                   uint64_t *out_size,
                                   struct lks_error *error)
{
    enum lks_status status = LKS_OK;
    uint64_t size = 0;

    for (size_t i = 1; i < args->operand_count && status == LKS_OK; i++) {
        status = read_file(args->operands[i], &slices[i - 1], error);
        size += slices[i - 1].size;
    }
    if (status == LKS_OK)
        *out_size = size;
    return status;
}

static enum lks_status append(const struct args *args,
                              struct lks_producer *producer,
                              const struct lks_slice *slices,
                              struct lks_error *error)
{
    const char *offset = args_text(args, "offset");
    const char *meta = args_text(args, "meta");
    enum lks_status status;

    status = lks_producer_append(producer, slices, args->operand_count - 1,
                                 offset, strlen(offset), meta, strlen(meta),
                                 NULL, NULL, error);
    if (status != LKS_OK)
        return status;
    return lks_producer_flush(producer, error);
}

static int report_put(const struct args *args, uint64_t seq, uint64_t size)
{
    const char *id = args_text(args, "producer");
    size_t count = args->operand_count - 1;

    if (args->json)
        return report_json(args, json_pack("{s:s, s:I, s:I, s:I}", "producer",
                                           id, "seq", (json_int_t)seq, "slices",
                                           (json_int_t)count, "bytes",
                                           (json_int_t)size));
    printf("put %s seq %" PRIu64 ": %zu slice%s, %" PRIu64 " bytes\n", id, seq,
           count, plural(count), size);
    return EXIT_DONE;
}

static int run(struct args *args)
{
    size_t count = args->operand_count - 1;
    struct lks_slice *slices = calloc(count, sizeof(*slices));
    struct stream_user user = {0};
    struct lks_error error;
    enum lks_status status;
    uint64_t size = 0, seq = 0;

    if (slices == NULL)
        return report_failure(args, "out of memory for %zu slices", count);

    status = stream_user_open(args, &user, &error);
    if (status == LKS_OK)
        status = check_mesh(args, user.stream, &error);
    if (status == LKS_OK)
        status = read_slices(args, slices, &size, &error);
    if (status == LKS_OK)
        status = lks_producer_check(user.stream, slices, count,
                                    strlen(args_text(args, "meta")),
                                    args->options, &error);
    if (status == LKS_OK)
        status = stream_user_produce(args, &user, &error);
    if (status == LKS_OK) {
        seq = lks_producer_next_seq(user.producer);
        status = append(args, user.producer, slices, &error);
    }
    stream_user_close(&user);
    for (size_t i = 0; i < count; i++)
        free((void *)slices[i].data);
    free(slices);
    return status == LKS_OK ? report_put(args, seq, size)
                            : report_error(args, &error);
}

const struct command command_put = {
    .name = "put",
    .operands = "URL FILE...",
    .operands_min = 2,
    .operands_max = SIZE_MAX,
    .opens = true,
    .reads = "producer|change",
    .reports = true,
    .text = "Append one TGB: a file for each slice, by rank",
    .options = options,
    .option_count = COUNT_OF(options),
    .run = run,
};
