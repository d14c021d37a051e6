/*
 * Messages: protobuf-c between a check before and an allocator of ours.
 *
 * protobuf-c hands out texts without their length, so a NUL inside one would
 * silently cut it, and it allocates whatever the bytes ask for. So the wire
 * format is walked over once before it sees anything: lengths, texts, and the
 * number of fields. It is small, and then the parser meets only what is sound.
 */
#include "format/message.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"

#define VARINT_SIZE_MAX 10

struct walk {
    const uint8_t *at;
    const uint8_t *end;
    size_t field_count;
};

bool lks_text_is_plain(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (text[i] < 0x20 || text[i] > 0x7e)
            return false;
    }
    return true;
}

static bool read_varint(struct walk *walk, uint64_t *out_value)
{
    uint64_t value = 0;

    for (int i = 0; i < VARINT_SIZE_MAX && walk->at < walk->end; i++) {
        uint8_t byte = *walk->at++;

        value |= (uint64_t)(byte & 0x7f) << (7 * i);
        if ((byte & 0x80) == 0) {
            *out_value = value;
            return true;
        }
    }
    return false;
}

static bool skip(struct walk *walk, uint64_t size)
{
    if (size > (size_t)(walk->end - walk->at))
        return false;
    walk->at += size;
    return true;
}

static bool walk_message(struct walk *walk,
                         const ProtobufCMessageDescriptor *type);

/* The content of a length-delimited field, of which `field` may be NULL. */
static bool walk_content(struct walk *walk,
                         const ProtobufCFieldDescriptor *field)
{
    const uint8_t *end = walk->end;
    uint64_t size;
    bool sound;

    if (!read_varint(walk, &size) || size > (size_t)(end - walk->at))
        return false;
    if (field != NULL && field->type == PROTOBUF_C_TYPE_STRING &&
        !lks_text_is_plain((const char *)walk->at, size))
        return false;
    if (field == NULL || field->type != PROTOBUF_C_TYPE_MESSAGE)
        return skip(walk, size);

    /* No message of ours contains its own kind: the depth is bounded. */
    walk->end = walk->at + size;
    sound = walk_message(walk, field->descriptor);
    walk->end = end;
    return sound;
}

static bool walk_message(struct walk *walk,
                         const ProtobufCMessageDescriptor *type)
{
    while (walk->at < walk->end) {
        const ProtobufCFieldDescriptor *field;
        uint64_t key;
        bool sound;

        if (++walk->field_count > LKS_FIELDS_MAX)
            return false;
        if (!read_varint(walk, &key) || key > UINT32_MAX || key >> 3 == 0)
            return false;

        switch (key & 7) {
        case PROTOBUF_C_WIRE_TYPE_VARINT:
            sound = read_varint(walk, &key);
            break;
        case PROTOBUF_C_WIRE_TYPE_64BIT:
            sound = skip(walk, 8);
            break;
        case PROTOBUF_C_WIRE_TYPE_32BIT:
            sound = skip(walk, 4);
            break;
        case PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED:
            field =
                protobuf_c_message_descriptor_get_field(type,
                                                        (unsigned)(key >> 3));
            sound = walk_content(walk, field);
            break;
        default:
            sound = false;
        }
        if (!sound)
            return false;
    }
    return true;
}

enum lks_status lks_required_check(size_t count,
                                   char *const *names,
                                   struct lks_error *error)
{
    if (count == 0)
        return LKS_OK;
    return lks_error_set(error, LKS_UNSUPPORTED,
                         "it requires \"%.64s\", which only a newer version "
                         "of Lakestream can honour",
                         names[0]);
}

/* `allocator_data` is where a failure is noted: unpacking says only "no". */
static void *message_alloc(void *allocator_data, size_t size)
{
    void *memory = lks_alloc(size);

    if (memory == NULL && allocator_data != NULL)
        *(bool *)allocator_data = true;
    return memory;
}

static void message_release(void *allocator_data, void *memory)
{
    (void)allocator_data;
    lks_free(memory);
}

enum lks_status lks_message_unpack(const ProtobufCMessageDescriptor *type,
                                   const uint8_t *bytes,
                                   size_t size,
                                   const char *what,
                                   ProtobufCMessage **out_message,
                                   struct lks_error *error)
{
    static const uint8_t nothing[1];
    struct walk walk = {nothing, nothing, 0};
    bool out_of_memory = false;
    ProtobufCAllocator allocator = {message_alloc, message_release,
                                    &out_of_memory};
    ProtobufCMessage *message = NULL;

    /* A message without fields has no bytes, and may have no address. */
    if (size > 0)
        walk = (struct walk){bytes, bytes + size, 0};
    if (walk_message(&walk, type))
        message = protobuf_c_message_unpack(type, &allocator, size,
                                            size > 0 ? bytes : nothing);
    if (out_of_memory) {
        assert(message == NULL);
        return lks_error_no_memory(error);
    }
    if (message == NULL)
        return lks_error_set(error, LKS_CORRUPT,
                             "the %s's %s message is malformed", what,
                             type->short_name);
    *out_message = message;
    return LKS_OK;
}

void lks_message_free(ProtobufCMessage *message)
{
    ProtobufCAllocator allocator = {message_alloc, message_release, NULL};

    if (message != NULL)
        protobuf_c_message_free_unpacked(message, &allocator);
}

enum lks_status lks_message_pack(const ProtobufCMessage *message,
                                 struct lks_buf *buf,
                                 struct lks_error *error)
{
    size_t size = protobuf_c_message_get_packed_size(message);
    enum lks_status status = lks_buf_reserve(buf, size, error);

    if (status != LKS_OK)
        return status;
    /* An empty message takes no bytes, and then data may be NULL. */
    if (size > 0)
        protobuf_c_message_pack(message, buf->data + buf->size);
    buf->size += size;
    return LKS_OK;
}
