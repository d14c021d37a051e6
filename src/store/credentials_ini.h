/*
 * The files that AWS tools share: sections of "name = value".
 */
#ifndef LKS_STORE_CREDENTIALS_INI_H
#define LKS_STORE_CREDENTIALS_INI_H

#include <stdbool.h>
#include <stddef.h>

enum lks_ini {
    LKS_INI_ABSENT,
    LKS_INI_FOUND,
    LKS_INI_TOO_LONG, /* it is there, and does not fit */
};

/* Copies the value of `name` in the last section so named that has it; only
 * LKS_INI_FOUND changes `value`. `text` ends with a NUL. */
enum lks_ini lks_ini_find(const char *text,
                          const char *section,
                          const char *name,
                          char *value,
                          size_t value_size);

/* The number of the first line that begins a section's name and does not end
 * it, from 1; 0: none. */
size_t lks_ini_bad_line(const char *text);

/* Whether there is a section of that name. */
bool lks_ini_has(const char *text, const char *section);

#endif
