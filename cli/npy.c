/*
 * The header of a NumPy .npy file: a Python dict, of which we understand the
 * one spelling that NumPy writes.
 *
 *     \x93NUMPY, major, minor, length (2 bytes, from version 2 on 4),
 *     {'descr': '<u2', 'fortran_order': False, 'shape': (5,), }  padding \n
 */
#include "npy.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "report.h"

/* NumPy pads to 64 bytes; a header of one dimension fills two lines at most. */
#define NPY_TEXT_SIZE_MAX 4096u

static enum lks_status refuse(const struct token_file *file,
                              struct lks_error *error)
{
    return fail(error, LKS_INVALID,
                "%s is no .npy file that can be packed: "
                "it must hold one dimension of little-endian u16, u32 or i32",
                file->path);
}

/* Steps over `word` and the spaces behind it. */
static bool eat(const char **at, const char *word)
{
    size_t length = strlen(word);

    if (strncmp(*at, word, length) != 0)
        return false;
    *at += length;
    *at += strspn(*at, " ");
    return true;
}

static bool eat_type(const char **at, enum token_type *out_type)
{
    if (eat(at, "'<u2'"))
        *out_type = TOKEN_U16;
    else if (eat(at, "'<u4'"))
        *out_type = TOKEN_U32;
    else if (eat(at, "'<i4'"))
        *out_type = TOKEN_I32;
    else
        return false;
    return true;
}

static bool eat_number(const char **at, uint64_t *out_number)
{
    char digits[32];
    size_t length = strspn(*at, "0123456789");

    if (length >= sizeof(digits))
        return false;
    memcpy(digits, *at, length);
    digits[length] = '\0';
    *at += length;
    *at += strspn(*at, " ");
    return number_parse(digits, out_number);
}

/* Each of the three keys once, in any order, and nothing else. */
static bool parse_dict(const char *at, struct token_file *file)
{
    bool has_type = false, has_order = false, has_shape = false;

    if (!eat(&at, "{"))
        return false;
    while (*at == '\'') {
        if (!has_type && eat(&at, "'descr':"))
            has_type = eat_type(&at, &file->type);
        else if (!has_order && eat(&at, "'fortran_order':"))
            has_order = eat(&at, "False") || eat(&at, "True");
        else if (!has_shape && eat(&at, "'shape':"))
            has_shape = eat(&at, "(") && eat_number(&at, &file->token_count) &&
                        eat(&at, ",") && eat(&at, ")");
        else
            return false;
        if (!eat(&at, ","))
            break;
    }
    return has_type && has_order && has_shape && eat(&at, "}") &&
           strcmp(at, "\n") == 0;
}

enum lks_status npy_read_header(struct token_file *file,
                                int fd,
                                struct lks_error *error)
{
    uint8_t start[NPY_START_SIZE + 2];
    char text[NPY_TEXT_SIZE_MAX + 1];
    size_t start_size = NPY_START_SIZE, length;
    ssize_t got = pread(fd, start, sizeof(start), 0);

    if (got < (ssize_t)sizeof(start) || memcmp(start, "\x93NUMPY", 6) != 0)
        return refuse(file, error);
    if (start[6] < 1 || start[6] > 3)
        return refuse(file, error);
    length = (size_t)start[8] | (size_t)start[9] << 8;
    if (start[6] > 1) {
        start_size += 2;
        length |= (size_t)start[10] << 16 | (size_t)start[11] << 24;
    }
    if (length > NPY_TEXT_SIZE_MAX)
        return refuse(file, error);
    got = pread(fd, text, length, (off_t)start_size);
    if (got != (ssize_t)length)
        return refuse(file, error);
    text[length] = '\0';
    if (strlen(text) != length || !parse_dict(text, file))
        return refuse(file, error);

    file->data_start = start_size + length;
    return LKS_OK;
}
