/*
 * lakestream get: one slice's bytes, as appended.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "interrupt.h"
#include "report.h"

static const struct arg_option options[] = {
    {.name = "step",
     .type = ARG_COUNT,
     .value = "N",
     .required = true,
     .max = INT64_MAX,
     .text = "the step"},
    {.name = "rank",
     .type = ARG_COUNT,
     .value = "R",
     .required = true,
     .max = LKS_SLICE_COUNT_MAX - 1,
     .text = "the slice's rank, d * cp + c"},
    {.name = "output",
     .letter = 'o',
     .type = ARG_TEXT,
     .value = "FILE",
     .min = 1,
     .text = "where to; whole or not at all (stdout if not given)"},
};

static enum lks_status write_all(int fd,
                                 const char *path,
                                 const struct lks_slice *slice,
                                 struct lks_error *error)
{
    const char *data = slice->data;
    size_t left = slice->size;

    while (left > 0) {
        ssize_t wrote = write(fd, data, left);

        if (wrote < 0)
            return fail_errno(error, "write", path);
        data += wrote;
        left -= (size_t)wrote;
    }
    return LKS_OK;
}

/* Gives `fd` the mode that open() would have given it. */
static void use_default_mode(int fd)
{
    mode_t mask = umask(0);

    umask(mask);
    fchmod(fd, 0666 & ~mask);
}

/* Writes beside `path` and renames, so that nobody sees half a file. */
static enum lks_status replace_file(const char *path,
                                    const struct lks_slice *slice,
                                    struct lks_error *error)
{
    size_t size = strlen(path) + sizeof(".XXXXXX");
    enum lks_status status;
    char *beside = malloc(size);
    int fd;

    if (beside == NULL)
        return fail(error, LKS_NO_MEMORY, "out of memory for %s", path);
    snprintf(beside, size, "%s.XXXXXX", path);
    fd = mkstemp(beside);
    if (fd < 0) {
        status = fail_errno(error, "create a file beside", path);
        free(beside);
        return status;
    }
    interrupt_owns_file(beside);

    use_default_mode(fd);
    status = write_all(fd, path, slice, error);
    if (status == LKS_OK && fsync(fd) != 0)
        status = fail_errno(error, "sync", path);
    if (close(fd) != 0 && status == LKS_OK)
        status = fail_errno(error, "close", path);
    if (status == LKS_OK && rename(beside, path) != 0)
        status = fail_errno(error, "rename a file to", path);
    if (status != LKS_OK)
        unlink(beside);
    interrupt_owns_file(NULL);
    free(beside);
    return status;
}

/* A pipe or a device is written to as it is; renaming would replace it. */
static enum lks_status write_slice(const char *path,
                                   const struct lks_slice *slice,
                                   struct lks_error *error)
{
    enum lks_status status;
    struct stat stat_now;
    FILE *file;

    if (path == NULL || strcmp(path, "-") == 0)
        return write_all(STDOUT_FILENO, "to stdout", slice, error);
    if (stat(path, &stat_now) != 0 || S_ISREG(stat_now.st_mode))
        return replace_file(path, slice, error);

    file = fopen(path, "wb");
    if (file == NULL)
        return fail_errno(error, "write", path);
    status = write_all(fileno(file), path, slice, error);
    fclose(file);
    return status;
}

static int run(struct args *args)
{
    struct lks_stream *stream = NULL;
    struct lks_batch *batch = NULL;
    struct lks_slice slice;
    struct lks_error error;
    enum lks_status status;

    status = lks_stream_open(args->operands[0], args->options, &stream, &error);
    if (status == LKS_OK)
        status =
            lks_stream_get(stream, args_number(args, "step"),
                           (uint32_t)args_number(args, "rank"), &batch, &error);
    if (status == LKS_OK) {
        slice = lks_batch_slice(batch, 0);
        status = write_slice(args_text(args, "output"), &slice, &error);
    }
    lks_batch_release(batch);
    lks_stream_close(stream);
    return status == LKS_OK ? EXIT_DONE : report_error(args, &error);
}

const struct command command_get = {
    .name = "get",
    .operands = "URL",
    .operands_min = 1,
    .operands_max = 1,
    .opens = true,
    .text = "Write one slice's bytes, as they were appended",
    .options = options,
    .option_count = COUNT_OF(options),
    .run = run,
};
