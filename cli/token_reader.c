/*
 * Reading one token file front to back. Small pieces come out of a buffer;
 * large ones go straight to where they are wanted.
 */
#include "token_reader.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "report.h"

enum lks_status token_reader_open(struct token_reader *reader,
                                  const struct token_file *file,
                                  struct lks_error *error)
{
    enum lks_status status;
    uint64_t size = 0;
    int fd = -1;

    assert(reader->file == NULL);
    status = token_file_open(file->path, &fd, &size, error);
    if (status != LKS_OK)
        return status;
    if (size != file->data_start + file->data_size)
        status = fail(error, LKS_INVALID,
                      "%s changes while it is packed: it "
                      "had %" PRIu64 " bytes, now %" PRIu64,
                      file->path, file->data_start + file->data_size, size);
    else if (lseek(fd, (off_t)file->data_start, SEEK_SET) < 0)
        status = fail_errno(error, "seek in", file->path);
    if (status != LKS_OK) {
        close(fd);
        return status;
    }
    reader->file = file;
    reader->fd = fd;
    reader->left = file->data_size;
    reader->at = 0;
    reader->size = 0;
    return LKS_OK;
}

void token_reader_close(struct token_reader *reader)
{
    if (reader->file != NULL)
        close(reader->fd);
    reader->file = NULL;
}

static enum lks_status read_exactly(struct token_reader *reader,
                                    uint8_t *data,
                                    size_t size,
                                    struct lks_error *error)
{
    const char *path = reader->file->path;

    assert(size <= reader->left);
    reader->left -= size;
    while (size > 0) {
        ssize_t got = read(reader->fd, data, size);

        if (got < 0)
            return fail_errno(error, "read", path);
        if (got == 0)
            return fail(error, LKS_INVALID, "%s was cut while it was packed",
                        path);
        data += got;
        size -= (size_t)got;
    }
    return LKS_OK;
}

static enum lks_status refill(struct token_reader *reader,
                              struct lks_error *error)
{
    size_t size = sizeof(reader->buffer);
    enum lks_status status;

    if (size > reader->left)
        size = (size_t)reader->left;
    status = read_exactly(reader, reader->buffer, size, error);
    reader->at = 0;
    reader->size = status == LKS_OK ? size : 0;
    return status;
}

enum lks_status token_reader_read(struct token_reader *reader,
                                  void *data,
                                  size_t size,
                                  struct lks_error *error)
{
    enum lks_status status = LKS_OK;
    uint8_t *to = data;

    while (size > 0) {
        size_t part = reader->size - reader->at;

        if (part == 0 && size >= sizeof(reader->buffer))
            return read_exactly(reader, to, size, error);
        if (part == 0)
            status = refill(reader, error);
        if (status != LKS_OK)
            return status;
        part = reader->size - reader->at;
        if (part > size)
            part = size;
        memcpy(to, reader->buffer + reader->at, part);
        reader->at += part;
        to += part;
        size -= part;
    }
    return LKS_OK;
}
