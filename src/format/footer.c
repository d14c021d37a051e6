/*
 * Footers: what makes a TGB readable without a manifest.
 *
 * A message of any size, and behind it a trailer of fixed size, so that it can
 * be found from the object's end. docs/format.md, "TGB", has the layout.
 */
#include "format/tgb.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "format/descriptor.h"
#include "format/frames.h"
#include "format/message.h"

#define TRAILER_MAGIC "LKSTGBF"
#define TRAILER_CRC_AT 28u

static enum lks_status corrupt(const char *problem, struct lks_error *error)
{
    return lks_error_set(error, LKS_CORRUPT, "the TGB's footer is wrong: %s",
                         problem);
}

static void encode_trailer(const uint8_t *message,
                           size_t message_size,
                           uint64_t object_size,
                           uint8_t trailer[LKS_TRAILER_SIZE])
{
    lks_put_u32(trailer, (uint32_t)message_size);
    lks_put_u32(trailer + 4, lks_crc32c(message, message_size));
    lks_put_u64(trailer + 8, object_size);
    lks_put_u32(trailer + 16, LKS_FORMAT_VERSION);
    memcpy(trailer + 20, TRAILER_MAGIC, 8);
    lks_put_u32(trailer + TRAILER_CRC_AT, lks_crc32c(trailer, TRAILER_CRC_AT));
}

enum lks_status lks_footer_encode(const struct lks_footer *footer,
                                  uint64_t frames_size,
                                  struct lks_buf *buf,
                                  struct lks_error *error)
{
    Lks__Footer message = LKS__FOOTER__INIT;
    uint32_t count = footer->dp * footer->cp;
    enum lks_status status;
    uint8_t *bytes;
    size_t size;

    message.stream = lks_message_bytes(footer->stream, LKS_ID_SIZE);
    message.dp = footer->dp;
    message.cp = footer->cp;
    message.producer = (char *)footer->producer;
    message.epoch = footer->epoch;
    message.owner = lks_message_bytes(footer->owner, LKS_ID_SIZE);
    message.seq = footer->seq;
    message.offset_before =
        lks_message_bytes(footer->offset_before, footer->offset_before_size);
    message.offset_after =
        lks_message_bytes(footer->offset_after, footer->offset_after_size);
    message.meta = lks_message_bytes(footer->meta, footer->meta_size);
    message.raw_max = footer->raw_max;
    if (lks_table_kind_of(footer->frames, count) == LKS_TABLE_UNIFORM) {
        message.uniform = footer->frames[0];
    } else {
        message.n_frames = count;
        message.frames = (uint64_t *)footer->frames;
    }

    size = protobuf_c_message_get_packed_size(&message.base);
    if (size > LKS_FOOTER_SIZE_MAX - LKS_TRAILER_SIZE)
        return lks_error_set(error, LKS_INVALID,
                             "the TGB's footer would have %zu bytes; it can "
                             "have %u",
                             size + LKS_TRAILER_SIZE, LKS_FOOTER_SIZE_MAX);
    status = lks_buf_reserve(buf, size + LKS_TRAILER_SIZE, error);
    if (status != LKS_OK)
        return status;
    bytes = buf->data + buf->size;
    protobuf_c_message_pack(&message.base, bytes);
    encode_trailer(bytes, size, frames_size + size + LKS_TRAILER_SIZE,
                   bytes + size);
    buf->size += size + LKS_TRAILER_SIZE;
    return LKS_OK;
}

enum lks_status lks_trailer_decode(const uint8_t bytes[LKS_TRAILER_SIZE],
                                   uint64_t object_size,
                                   uint32_t *out_footer_size,
                                   struct lks_error *error)
{
    uint32_t format = lks_get_u32(bytes + 16);
    uint64_t size = (uint64_t)lks_get_u32(bytes) + LKS_TRAILER_SIZE;

    if (memcmp(bytes + 20, TRAILER_MAGIC, 8) != 0)
        return lks_error_set(error, LKS_CORRUPT,
                             "no TGB ends here: its last bytes are others");
    if (lks_get_u32(bytes + TRAILER_CRC_AT) !=
        lks_crc32c(bytes, TRAILER_CRC_AT))
        return corrupt("its trailer has a wrong checksum", error);
    if (format > LKS_FORMAT_VERSION)
        return lks_error_set(error, LKS_UNSUPPORTED,
                             "the TGB has format %" PRIu32
                             "; this version of Lakestream reads up to %u",
                             format, LKS_FORMAT_VERSION);
    if (format == 0)
        return corrupt("its format is 0", error);
    if (lks_get_u64(bytes + 8) != object_size)
        return lks_error_set(error, LKS_CORRUPT,
                             "the TGB has %" PRIu64
                             " bytes; its footer says %" PRIu64,
                             object_size, lks_get_u64(bytes + 8));
    if (size > LKS_FOOTER_SIZE_MAX || size > object_size)
        return corrupt("its size is out of range", error);
    *out_footer_size = (uint32_t)size;
    return LKS_OK;
}

/* Whether the slices' frames are sound and have `frames_size` bytes. */
static enum lks_status check_frames(const Lks__Footer *message,
                                    uint64_t frames_size,
                                    struct lks_error *error)
{
    uint64_t count = (uint64_t)message->dp * message->cp;
    uint64_t total;

    if (lks_mesh_check(message->dp, message->cp, NULL) != LKS_OK)
        return corrupt("its mesh is none", error);
    if (message->uniform != 0) {
        if (message->n_frames != 0 ||
            !lks_frame_size_is_valid(message->uniform))
            return corrupt("its frames have no valid length", error);
        total = message->uniform * count;
    } else {
        if (message->n_frames != count)
            return corrupt("it has not one frame for each slice", error);
        if (!lks_frames_sum(message->frames, message->n_frames, &total))
            return corrupt("its frames have no valid length", error);
    }
    if (total != frames_size)
        return corrupt("its frames do not fill the object", error);
    return LKS_OK;
}

static enum lks_status check_message(const Lks__Footer *message,
                                     uint64_t frames_size,
                                     struct lks_error *error)
{
    enum lks_status status =
        lks_required_check(message->n_required, message->required, error);

    if (status != LKS_OK)
        return status;
    if (message->stream.len != LKS_ID_SIZE)
        return corrupt("its stream id has not 16 bytes", error);
    if (message->owner.len != LKS_ID_SIZE)
        return corrupt("its owner has not 16 bytes", error);
    if (!lks_id_is_valid(message->producer))
        return corrupt("its producer id is none", error);
    if (message->offset_before.len > LKS_OFFSET_SIZE_MAX ||
        message->offset_after.len > LKS_OFFSET_SIZE_MAX)
        return corrupt("an offset is too long", error);
    if (message->meta.len > LKS_META_SIZE_MAX)
        return corrupt("its metadata is too long", error);
    if (message->raw_max > LKS_SLICE_SIZE_MAX)
        return corrupt("its largest slice is too large", error);
    return check_frames(message, frames_size, error);
}

static void borrow(Lks__Footer *message, struct lks_footer *footer)
{
    memset(footer, 0, sizeof(*footer));
    memcpy(footer->stream, message->stream.data, LKS_ID_SIZE);
    footer->dp = message->dp;
    footer->cp = message->cp;
    footer->producer = message->producer;
    footer->epoch = message->epoch;
    memcpy(footer->owner, message->owner.data, LKS_ID_SIZE);
    footer->seq = message->seq;
    footer->offset_before = message->offset_before.data;
    footer->offset_before_size = message->offset_before.len;
    footer->offset_after = message->offset_after.data;
    footer->offset_after_size = message->offset_after.len;
    footer->meta = message->meta.data;
    footer->meta_size = message->meta.len;
    footer->raw_max = message->raw_max;
    footer->uniform = message->uniform;
    footer->frames = message->n_frames > 0 ? message->frames : NULL;
    footer->message = message;
}

enum lks_status lks_footer_decode(const uint8_t *bytes,
                                  size_t size,
                                  uint64_t object_size,
                                  struct lks_footer *out_footer,
                                  struct lks_error *error)
{
    ProtobufCMessage *message;
    const uint8_t *trailer;
    enum lks_status status;
    uint32_t footer_size = 0;
    size_t message_size;

    if (size < LKS_TRAILER_SIZE)
        return corrupt("it is cut off", error);
    message_size = size - LKS_TRAILER_SIZE;
    trailer = bytes + message_size;
    status = lks_trailer_decode(trailer, object_size, &footer_size, error);
    if (status != LKS_OK)
        return status;
    if (footer_size != size)
        return lks_error_set(error, LKS_CORRUPT,
                             "the TGB's footer has %" PRIu32
                             " bytes where %zu are set aside",
                             footer_size, size);
    if (lks_crc32c(bytes, message_size) != lks_get_u32(trailer + 4))
        return corrupt("it has a wrong checksum", error);

    status = lks_message_unpack(&lks__footer__descriptor, bytes, message_size,
                                "TGB footer", &message, error);
    if (status != LKS_OK)
        return status;
    status = check_message((Lks__Footer *)message, object_size - size, error);
    if (status != LKS_OK) {
        lks_message_free(message);
        return status;
    }
    borrow((Lks__Footer *)message, out_footer);
    return LKS_OK;
}

void lks_footer_done(struct lks_footer *footer)
{
    if (footer == NULL)
        return;
    lks_message_free(footer->message);
    footer->message = NULL;
}
