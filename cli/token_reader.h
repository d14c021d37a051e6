/* Reading one token file front to back, in pieces of any size. */
#ifndef LAKESTREAM_CLI_TOKEN_READER_H
#define LAKESTREAM_CLI_TOKEN_READER_H

#include "token_file.h"

#define TOKEN_READER_BUFFER_SIZE ((size_t)64 << 10)

struct token_reader {
    const struct token_file *file; /* NULL while none is open */
    int fd;
    uint64_t left; /* bytes of the file's data behind the buffer */
    size_t at;     /* in the buffer */
    size_t size;
    uint8_t buffer[TOKEN_READER_BUFFER_SIZE];
};

/* Opens `file` at its first token. Refused if it has another size than when it
 * was looked at. */
enum lks_status token_reader_open(struct token_reader *reader,
                                  const struct token_file *file,
                                  struct lks_error *error);

/* None open is fine. */
void token_reader_close(struct token_reader *reader);

/* Exactly `size` bytes, which the file must have had when it was opened. */
enum lks_status token_reader_read(struct token_reader *reader,
                                  void *data,
                                  size_t size,
                                  struct lks_error *error);

#endif
