/*
 * The object that manifests and index blocks share: a header of 64 bytes and
 * two sections, each under its own checksum. docs/format.md, "Sections".
 */
#ifndef LKS_FORMAT_SECTIONS_H
#define LKS_FORMAT_SECTIONS_H

#include "format/message.h"
#include "format/names.h"

#define LKS_SECTIONS_HEADER_SIZE 64u

struct lks_sections_kind {
    char magic[8];
    const char *what; /* "manifest", "index block" */
    size_t size_max;
};

/* What stands in an object. The sections are borrowed from its bytes. */
struct lks_sections {
    const uint8_t *head;
    size_t head_size;
    const uint8_t *control; /* NULL when only the head was asked for */
    size_t control_size;
};

/* Appends a whole object. On failure `buf` is as it was. */
enum lks_status lks_sections_encode(const struct lks_sections_kind *kind,
                                    const uint8_t stream[LKS_ID_SIZE],
                                    uint64_t number,
                                    const ProtobufCMessage *head,
                                    const ProtobufCMessage *control,
                                    struct lks_buf *buf,
                                    struct lks_error *error);

/* Checks a whole object of this kind, stream and number. */
enum lks_status lks_sections_decode(const struct lks_sections_kind *kind,
                                    const uint8_t *bytes,
                                    size_t size,
                                    const uint8_t stream[LKS_ID_SIZE],
                                    uint64_t number,
                                    struct lks_sections *out_sections,
                                    struct lks_error *error);

/* The head section only, from an object's first `size` bytes. *out_needed is
 * how many are needed if that is more, else 0 and the sections are set. */
enum lks_status lks_sections_decode_head(const struct lks_sections_kind *kind,
                                         const uint8_t *bytes,
                                         size_t size,
                                         const uint8_t stream[LKS_ID_SIZE],
                                         uint64_t number,
                                         struct lks_sections *out_sections,
                                         size_t *out_needed,
                                         struct lks_error *error);

#endif
