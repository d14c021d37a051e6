/*
 * One input of `pack`: what kind it is, and how many tokens it holds.
 */
#include "token_file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "npy.h"
#include "report.h"

static const struct {
    const char *name;
    size_t width;
    int64_t min;
    int64_t max;
} types[] = {
    [TOKEN_U16] = {"u16", 2, 0, UINT16_MAX},
    [TOKEN_U32] = {"u32", 4, 0, UINT32_MAX},
    [TOKEN_I32] = {"i32", 4, INT32_MIN, INT32_MAX},
};

const char *token_type_name(enum token_type type)
{
    return types[type].name;
}

size_t token_type_width(enum token_type type)
{
    return types[type].width;
}

bool token_type_parse(const char *name, enum token_type *out_type)
{
    for (int i = TOKEN_U16; i <= TOKEN_I32; i++) {
        if (strcmp(types[i].name, name) == 0) {
            *out_type = (enum token_type)i;
            return true;
        }
    }
    return false;
}

bool token_type_holds(enum token_type type, int64_t token)
{
    return token >= types[type].min && token <= types[type].max;
}

void token_fill(void *data, enum token_type type, int64_t token, uint64_t count)
{
    size_t width = types[type].width;
    uint8_t *bytes = data;

    for (uint64_t i = 0; i < count; i++) {
        for (size_t j = 0; j < width; j++)
            *bytes++ = (uint8_t)((uint64_t)token >> (8 * j));
    }
}

static bool has_suffix(const char *path, const char *suffix)
{
    size_t length = strlen(path), end = strlen(suffix);

    return length > end && strcmp(path + length - end, suffix) == 0;
}

enum lks_status token_file_open(const char *path,
                                int *out_fd,
                                uint64_t *out_size,
                                struct lks_error *error)
{
    enum lks_status status;
    struct stat stat;
    /* Without NONBLOCK, a pipe that nobody writes to would hang us here. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0)
        return fail_errno(error, "open", path);
    if (fstat(fd, &stat) != 0)
        status = fail_errno(error, "look at", path);
    else if (S_ISDIR(stat.st_mode))
        status = fail(error, LKS_INVALID,
                      "%s is a directory; name the files "
                      "in it",
                      path);
    else if (!S_ISREG(stat.st_mode))
        status = fail(error, LKS_INVALID,
                      "%s is no regular file; resuming "
                      "must be able to read it again",
                      path);
    else
        status = LKS_OK;
    if (status != LKS_OK) {
        close(fd);
        return status;
    }
    posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    *out_fd = fd;
    *out_size = (uint64_t)stat.st_size;
    return LKS_OK;
}

/* From the size on disk to a count of tokens; for .npy both must agree. */
static enum lks_status count_tokens(struct token_file *file,
                                    uint64_t size,
                                    bool counted,
                                    struct lks_error *error)
{
    size_t width = token_type_width(file->type);

    file->data_size = size - file->data_start;
    if (file->text) {
        file->token_count = file->data_size + 1;
        return LKS_OK;
    }
    if (file->data_size % width != 0)
        return fail(error, LKS_INVALID,
                    "%s has %" PRIu64 " bytes of tokens, "
                    "which is no multiple of the %zu of one %s",
                    file->path, file->data_size, width,
                    token_type_name(file->type));
    if (counted && file->token_count != file->data_size / width)
        return fail(error, LKS_INVALID,
                    "%s holds %" PRIu64 " tokens, but its "
                    "header says %" PRIu64,
                    file->path, file->data_size / width, file->token_count);
    file->token_count = file->data_size / width;
    return LKS_OK;
}

enum lks_status token_file_look(struct token_file *file,
                                const char *path,
                                enum token_type bin_type,
                                struct lks_error *error)
{
    bool npy = has_suffix(path, ".npy"), bin = has_suffix(path, ".bin");
    enum lks_status status;
    uint64_t size = 0;
    int fd = -1;

    *file = (struct token_file){
        .path = path,
        .type = bin ? bin_type : TOKEN_U16,
        .text = !npy && !bin,
    };
    status = token_file_open(path, &fd, &size, error);
    if (status != LKS_OK)
        return status;
    if (npy)
        status = npy_read_header(file, fd, error);
    if (status == LKS_OK)
        status = count_tokens(file, size, npy, error);
    close(fd);
    return status;
}
