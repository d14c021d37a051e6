/*
 * Sections: a header that vouches for itself and for two messages behind it.
 *
 * docs/format.md, "Sections", has the layout. The checks go from what any later
 * format keeps (magic, the header's checksum, the format's number) to what this
 * one says, so that a newer object is called newer and not damaged.
 */
#include "format/sections.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "format/descriptor.h"

#define HEADER_CRC_AT 60u

enum lks_status lks_sections_encode(const struct lks_sections_kind *kind,
                                    const uint8_t stream[LKS_ID_SIZE],
                                    uint64_t number,
                                    const ProtobufCMessage *head,
                                    const ProtobufCMessage *control,
                                    struct lks_buf *buf,
                                    struct lks_error *error)
{
    size_t head_size = protobuf_c_message_get_packed_size(head);
    size_t control_size = protobuf_c_message_get_packed_size(control);
    size_t size = LKS_SECTIONS_HEADER_SIZE + head_size + control_size;
    enum lks_status status;
    uint8_t *header;
    uint8_t *body;

    if (size > kind->size_max)
        return lks_error_set(error, LKS_INVALID,
                             "the %s would have %zu bytes; it can have %zu",
                             kind->what, size, kind->size_max);
    status = lks_buf_reserve(buf, size, error);
    if (status != LKS_OK)
        return status;

    header = buf->data + buf->size;
    body = header + LKS_SECTIONS_HEADER_SIZE;
    protobuf_c_message_pack(head, body);
    protobuf_c_message_pack(control, body + head_size);

    memset(header, 0, LKS_SECTIONS_HEADER_SIZE);
    memcpy(header, kind->magic, sizeof(kind->magic));
    lks_put_u32(header + 8, LKS_FORMAT_VERSION);
    lks_put_u32(header + 12, (uint32_t)head_size);
    lks_put_u32(header + 16, lks_crc32c(body, head_size));
    lks_put_u32(header + 20, (uint32_t)control_size);
    lks_put_u32(header + 24, lks_crc32c(body + head_size, control_size));
    memcpy(header + 28, stream, LKS_ID_SIZE);
    lks_put_u64(header + 44, number);
    lks_put_u32(header + HEADER_CRC_AT, lks_crc32c(header, HEADER_CRC_AT));
    buf->size += size;
    return LKS_OK;
}

/* That the header is whole, of this kind, and in a format we read. */
static enum lks_status check_header(const struct lks_sections_kind *kind,
                                    const uint8_t *header,
                                    struct lks_error *error)
{
    uint32_t format = lks_get_u32(header + 8);
    uint32_t crc = lks_crc32c(header, HEADER_CRC_AT);

    if (memcmp(header, kind->magic, sizeof(kind->magic)) != 0)
        return lks_error_set(error, LKS_CORRUPT, "this object is no %s",
                             kind->what);
    if (lks_get_u32(header + HEADER_CRC_AT) != crc)
        return lks_error_set(error, LKS_CORRUPT,
                             "the %s's header has a wrong checksum",
                             kind->what);
    if (format > LKS_FORMAT_VERSION)
        return lks_error_set(error, LKS_UNSUPPORTED,
                             "the %s has format %" PRIu32
                             "; this version of Lakestream reads up to %u",
                             kind->what, format, LKS_FORMAT_VERSION);
    if (format == 0 || !lks_bytes_are_zero(header + 52, HEADER_CRC_AT - 52))
        return lks_error_set(error, LKS_CORRUPT,
                             "the %s's header is not in format %u", kind->what,
                             LKS_FORMAT_VERSION);
    return LKS_OK;
}

/* That it is the object which was asked for. */
static enum lks_status check_identity(const struct lks_sections_kind *kind,
                                      const uint8_t *header,
                                      const uint8_t stream[LKS_ID_SIZE],
                                      uint64_t number,
                                      struct lks_error *error)
{
    uint64_t found = lks_get_u64(header + 44);
    char digits[2 * LKS_ID_SIZE + 1];

    if (memcmp(header + 28, stream, LKS_ID_SIZE) != 0) {
        lks_hex_encode(header + 28, LKS_ID_SIZE, digits);
        return lks_error_set(error, LKS_CORRUPT,
                             "the %s belongs to another stream, %s", kind->what,
                             digits);
    }
    if (found != number)
        return lks_error_set(error, LKS_CORRUPT,
                             "the %s is number %" PRIu64 " where %" PRIu64
                             " belongs",
                             kind->what, found, number);
    return LKS_OK;
}

/* The sizes, from a header that is sound. `size` may not be all of it. */
static enum lks_status read_sizes(const struct lks_sections_kind *kind,
                                  const uint8_t *bytes,
                                  size_t size,
                                  struct lks_sections *sections,
                                  size_t *out_total,
                                  struct lks_error *error)
{
    uint64_t head_size = lks_get_u32(bytes + 12);
    uint64_t control_size = lks_get_u32(bytes + 20);
    uint64_t total = LKS_SECTIONS_HEADER_SIZE + head_size + control_size;

    if (total > kind->size_max || size > total)
        return lks_error_set(error, LKS_CORRUPT,
                             "the %s cannot have %" PRIu64 " bytes", kind->what,
                             size > total ? (uint64_t)size : total);
    sections->head = bytes + LKS_SECTIONS_HEADER_SIZE;
    sections->head_size = (size_t)head_size;
    sections->control = NULL;
    sections->control_size = (size_t)control_size;
    *out_total = (size_t)total;
    return LKS_OK;
}

static enum lks_status check_section(const struct lks_sections_kind *kind,
                                     const uint8_t *bytes,
                                     size_t size,
                                     uint32_t crc,
                                     const char *which,
                                     struct lks_error *error)
{
    if (lks_crc32c(bytes, size) != crc)
        return lks_error_set(error, LKS_CORRUPT,
                             "the %s's %s section has a wrong checksum",
                             kind->what, which);
    return LKS_OK;
}

static enum lks_status read_header(const struct lks_sections_kind *kind,
                                   const uint8_t *bytes,
                                   size_t size,
                                   const uint8_t stream[LKS_ID_SIZE],
                                   uint64_t number,
                                   struct lks_sections *sections,
                                   size_t *out_total,
                                   struct lks_error *error)
{
    enum lks_status status = check_header(kind, bytes, error);

    if (status == LKS_OK)
        status = check_identity(kind, bytes, stream, number, error);
    if (status == LKS_OK)
        status = read_sizes(kind, bytes, size, sections, out_total, error);
    return status;
}

enum lks_status lks_sections_decode_head(const struct lks_sections_kind *kind,
                                         const uint8_t *bytes,
                                         size_t size,
                                         const uint8_t stream[LKS_ID_SIZE],
                                         uint64_t number,
                                         struct lks_sections *out_sections,
                                         size_t *out_needed,
                                         struct lks_error *error)
{
    struct lks_sections sections;
    enum lks_status status;
    size_t total;

    if (size < LKS_SECTIONS_HEADER_SIZE) {
        *out_needed = LKS_SECTIONS_HEADER_SIZE;
        return LKS_OK;
    }
    status = read_header(kind, bytes, size, stream, number, &sections, &total,
                         error);
    if (status != LKS_OK)
        return status;
    if (size < LKS_SECTIONS_HEADER_SIZE + sections.head_size) {
        *out_needed = LKS_SECTIONS_HEADER_SIZE + sections.head_size;
        return LKS_OK;
    }
    status = check_section(kind, sections.head, sections.head_size,
                           lks_get_u32(bytes + 16), "head", error);
    if (status != LKS_OK)
        return status;
    *out_sections = sections;
    *out_needed = 0;
    return LKS_OK;
}

enum lks_status lks_sections_decode(const struct lks_sections_kind *kind,
                                    const uint8_t *bytes,
                                    size_t size,
                                    const uint8_t stream[LKS_ID_SIZE],
                                    uint64_t number,
                                    struct lks_sections *out_sections,
                                    struct lks_error *error)
{
    struct lks_sections sections;
    enum lks_status status;
    size_t needed;

    status = lks_sections_decode_head(kind, bytes, size, stream, number,
                                      &sections, &needed, error);
    if (status != LKS_OK)
        return status;
    if (needed == 0)
        needed = LKS_SECTIONS_HEADER_SIZE + sections.head_size +
                 sections.control_size;
    if (size < needed)
        return lks_error_set(error, LKS_CORRUPT,
                             "the %s is cut off: %zu bytes instead of %zu",
                             kind->what, size, needed);

    sections.control = sections.head + sections.head_size;
    status = check_section(kind, sections.control, sections.control_size,
                           lks_get_u32(bytes + 24), "control", error);
    if (status != LKS_OK)
        return status;
    *out_sections = sections;
    return LKS_OK;
}
