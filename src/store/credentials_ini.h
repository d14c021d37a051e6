/*
 * The files that AWS tools share: sections of "name = value".
 */
#ifndef LKS_STORE_CREDENTIALS_INI_H
#define LKS_STORE_CREDENTIALS_INI_H

#include <stdbool.h>
#include <stddef.h>

/* Copies the value of `name` in the last section so named that has it. False
 * when there is none, or it does not fit. `text` ends with a NUL. */
bool lks_ini_find(const char *text,
                  const char *section,
                  const char *name,
                  char *value,
                  size_t value_size);

/* Whether there is a section of that name. */
bool lks_ini_has(const char *text, const char *section);

#endif
