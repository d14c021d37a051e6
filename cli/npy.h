/* The header of a NumPy .npy file. */
#ifndef LAKESTREAM_CLI_NPY_H
#define LAKESTREAM_CLI_NPY_H

#include "token_file.h"

/* The shortest header: magic, version, and the length of what follows. */
#define NPY_START_SIZE 10u

/* Reads the header of an open file into type, data_start and token_count.
 * Anything but one dimension of little-endian u16, u32 or i32 is refused. */
enum lks_status npy_read_header(struct token_file *file,
                                int fd,
                                struct lks_error *error);

#endif
