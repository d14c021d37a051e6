/*
 * Protocol Buffers messages, on our allocator and with hostile bytes kept out.
 * Private to this room: what is generated from the .proto goes no further.
 */
#ifndef LKS_FORMAT_MESSAGE_H
#define LKS_FORMAT_MESSAGE_H

#include <stdbool.h>

#include "base/buf.h"
#include "lakestream.pb-c.h"

/* Fields in one section or footer, nested ones included; our own largest has a
 * quarter of that. It bounds what decoding may allocate. */
#define LKS_FIELDS_MAX (1u << 18)

/* Names of features that this library knows. It knows none yet. */
enum lks_status lks_required_check(size_t count,
                                   char *const *names,
                                   struct lks_error *error);

/* `what` is "manifest", ... Texts in the message are printable ASCII. */
enum lks_status lks_message_unpack(const ProtobufCMessageDescriptor *type,
                                   const uint8_t *bytes,
                                   size_t size,
                                   const char *what,
                                   ProtobufCMessage **out_message,
                                   struct lks_error *error);

/* NULL is fine. Frees what lks_alloc() made and was put in since, too. */
void lks_message_free(ProtobufCMessage *message);

/* Appends the packed message. */
enum lks_status lks_message_pack(const ProtobufCMessage *message,
                                 struct lks_buf *buf,
                                 struct lks_error *error);

/* Printable ASCII: what may stand in a message's texts, and in ours. */
bool lks_text_is_plain(const char *text, size_t size);

/* A bytes field that borrows; const ends here, as protobuf-c has none. */
static inline ProtobufCBinaryData lks_message_bytes(const void *data,
                                                    size_t size)
{
    ProtobufCBinaryData bytes = {size, size > 0 ? (uint8_t *)data : NULL};

    return bytes;
}

#endif
