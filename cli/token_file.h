/*
 * One input of `pack`: text, or tokens in a .bin or .npy file.
 *
 * Text is packed byte by byte, each byte a token of 16 bits, and the end token
 * 256 after the last. Token files keep their type, and get no end token.
 */
#ifndef LAKESTREAM_CLI_TOKEN_FILE_H
#define LAKESTREAM_CLI_TOKEN_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lakestream.h"

#define TOKEN_END 256u
#define TOKEN_WIDTH_MAX 4u

enum token_type { TOKEN_U16, TOKEN_U32, TOKEN_I32 };

/* "u16", and its size in bytes. */
const char *token_type_name(enum token_type type);
size_t token_type_width(enum token_type type);

/* False if `name` is none of "u16", "u32", "i32". */
bool token_type_parse(const char *name, enum token_type *out_type);

/* Can `type` hold it? */
bool token_type_holds(enum token_type type, int64_t token);

/* Writes `count` times `token`, as it lies in files: little-endian. */
void token_fill(void *data,
                enum token_type type,
                int64_t token,
                uint64_t count);

struct token_file {
    const char *path; /* borrowed */
    enum token_type type;
    bool text;
    uint64_t data_start; /* behind the header that .npy has */
    uint64_t data_size;
    uint64_t token_count; /* the end token included */
};

/*
 * Looks at `path` without keeping it open. `bin_type` is the type of .bin
 * files. The message says what is wrong with the file and which it is.
 */
enum lks_status token_file_look(struct token_file *file,
                                const char *path,
                                enum token_type bin_type,
                                struct lks_error *error);

/* Opens any input, if it can be one; the descriptor is the caller's. */
enum lks_status token_file_open(const char *path,
                                int *out_fd,
                                uint64_t *out_size,
                                struct lks_error *error);

#endif
