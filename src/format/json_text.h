/*
 * JSON of ours: descriptors, watermarks and states. Private to this room.
 */
#ifndef LKS_FORMAT_JSON_TEXT_H
#define LKS_FORMAT_JSON_TEXT_H

#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"
#include "format/names.h"

/* Parses one object, no key twice. A fault gets `fault`, and a message that
 * begins with `what`; *out_object is to be released with json_decref(). */
enum lks_status lks_json_parse(const char *text,
                               size_t size,
                               const char *what,
                               enum lks_status fault,
                               json_t **out_object,
                               struct lks_error *error);

/* Appends it without spaces, keys in the order of their making. */
enum lks_status lks_json_write(const json_t *value,
                               struct lks_buf *buf,
                               struct lks_error *error);

/*
 * The same as an object of the store: its last key is a checksum of all before,
 * so that a reader checks the bytes before it parses any. `what` is
 * "descriptor", ...
 */
enum lks_status lks_json_seal(const json_t *value,
                              const char *what,
                              size_t size_max,
                              struct lks_buf *buf,
                              struct lks_error *error);

/* What is wrong with such an object's end; NULL: nothing. */
const char *lks_json_seal_problem(const void *data,
                                  size_t size,
                                  size_t size_max);

/* False if the key is not there or is not a whole number of [0, max]. */
bool lks_json_number(const json_t *object,
                     const char *key,
                     uint64_t max,
                     uint64_t *out_value);

/* False unless the key holds 32 lower-case hex digits. */
bool lks_json_id(const json_t *object,
                 const char *key,
                 uint8_t out_id[LKS_ID_SIZE]);

#endif
