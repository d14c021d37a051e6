/*
 * Reading a store's XML: each element as it ends, with its path and its text.
 */
#ifndef LKS_STORE_S3_XML_H
#define LKS_STORE_S3_XML_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define LKS_XML_PATH_SIZE 160u
#define LKS_XML_TEXT_SIZE 8192u

/* `path` is "ListBucketResult/Contents/Key", without namespaces. `text` is what
 * stands in the element itself. Anything but LKS_OK ends the walk. */
typedef enum lks_status lks_xml_fn(const char *path,
                                   const char *text,
                                   void *arg,
                                   struct lks_error *error);

/* LKS_CORRUPT for what is no XML, deeper than its path fits, or longer in one
 * text than fits; also for a document that declares entities of its own. */
enum lks_status lks_xml_walk(const void *data,
                             size_t size,
                             lks_xml_fn *ended,
                             void *arg,
                             struct lks_error *error);

/* What an error reply says. Empty where it says nothing. */
struct lks_xml_failure {
    char code[64];
    char message[160];
    char region[64];
    char request_id[80];
};

/* Never fails: what cannot be read stays empty. */
void lks_xml_failure(const void *data,
                     size_t size,
                     struct lks_xml_failure *out_failure);

/* "2026-11-29T18:25:13.123Z" in Unix milliseconds, its fraction dropped; 0 for
 * what is none. */
int64_t lks_xml_time(const char *text);

/* The text of the first element with that path, cut to fit; false: none. */
bool lks_xml_find(const void *data,
                  size_t size,
                  const char *path,
                  char *text,
                  size_t text_size);

#endif
