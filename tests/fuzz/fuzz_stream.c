/*
 * Fuzzes a whole stream: a small sound one, some objects of which are changed,
 * is looked at in every way there is. The layers above the decoders must bear
 * what gets past them: objects that are sound alone and contradict each other.
 *
 * The input is a list of changes: object, place (2 bytes), what, and a byte.
 */
#include <inttypes.h>

#include "base/alloc.h"
#include "consumer/consumer.h"
#include "fuzz.h"
#include "inspect/inspect.h"
#include "support/stream_builder.h"

#define FIRST_STEP 250u /* so the first block is short, as a fork's is */
#define STEP_COUNT 9u
#define OBJECT_COUNT_MAX 40u
#define OBJECT_SIZE_MAX 2048u
#define CHANGE_COUNT_MAX 16u

enum change_kind { CHANGE_SET, CHANGE_INSERT, CHANGE_DELETE, CHANGE_DROP };

struct object {
    char key[LKS_KEY_SIZE_MAX + 1];
    size_t size;
    uint8_t bytes[OBJECT_SIZE_MAX + CHANGE_COUNT_MAX];
    bool dropped;
};

static struct object sound[OBJECT_COUNT_MAX];
static struct object changed[OBJECT_COUNT_MAX];
static size_t object_count;

static struct lks_store *open_store(void)
{
    struct lks_store *store = NULL;
    struct lks_error error;

    FUZZ_CHECK(lks_store_mem_open("fuzz", lks_env_real(), &store, &error) ==
               LKS_OK);
    return store;
}

static void keep_objects(struct lks_store *store)
{
    static struct lks_listed listed[OBJECT_COUNT_MAX];
    struct lks_error error;

    FUZZ_CHECK(lks_store_list(store, "", "", OBJECT_COUNT_MAX, listed,
                              &object_count, NULL, &error) == LKS_OK);
    FUZZ_CHECK(object_count < OBJECT_COUNT_MAX);
    for (size_t i = 0; i < object_count; i++) {
        struct object *object = &sound[i];

        FUZZ_CHECK(listed[i].size <= OBJECT_SIZE_MAX);
        memcpy(object->key, listed[i].key, sizeof(object->key));
        FUZZ_CHECK(lks_store_get(store, object->key, 0, object->bytes,
                                 OBJECT_SIZE_MAX, &object->size, NULL,
                                 &error) == LKS_OK);
    }
}

static void make_stream(void)
{
    const struct lks_descriptor descriptor = {
        .dp = 2,
        .cp = 1,
        .producers_to_end = 1,
        .first_step = FIRST_STEP,
    };
    struct lks_store *store = open_store();
    struct stream_builder builder;
    struct lks_error error;

    FUZZ_CHECK(stream_builder_init(&builder, store, &descriptor, &error) ==
               LKS_OK);
    builder.shape = (struct stream_shape){
        .size = 70,
        .spread = 100,
        .codec = LKS_CODEC_LZ4,
        .mixed = true,
    };
    FUZZ_CHECK(stream_builder_add(&builder, STEP_COUNT, 2, &error) == LKS_OK);
    FUZZ_CHECK(stream_builder_end(&builder, &error) == LKS_OK);
    keep_objects(store);
    stream_builder_done(&builder);
    lks_store_close(store);
}

/* Makes the checksums right that say nothing of the rest of the stream. */
static void repair(struct object *object)
{
    uint8_t *trailer = object->bytes + object->size - 32;
    uint64_t footer;

    if (strncmp(object->key, "data/", 5) != 0) {
        if (strcmp(object->key, LKS_DESCRIPTOR_NAME) == 0)
            fuzz_repair_json(object->bytes, object->size);
        else
            fuzz_repair_sections(object->bytes, object->size);
        return;
    }
    if (object->size < 96)
        return;
    footer = lks_get_u32(trailer);
    if (footer <= object->size - 32)
        lks_put_u32(trailer + 4, lks_crc32c(trailer - footer, footer));
    lks_put_u64(trailer + 8, object->size);
    lks_put_u32(trailer + 28, lks_crc32c(trailer, 28));
    lks_put_u32(object->bytes + 60, lks_crc32c(object->bytes, 60));
}

static void change(struct fuzz_input *input)
{
    struct object *object = &changed[fuzz_byte(input) % object_count];
    size_t place = (size_t)fuzz_byte(input) << 8;
    uint8_t what = fuzz_byte(input);
    uint8_t value;

    place = object->size > 0 ? (place | what) % object->size : 0;
    what = fuzz_byte(input);
    value = fuzz_byte(input);
    switch ((enum change_kind)(what % 4)) {
    case CHANGE_SET:
        object->bytes[place] = value;
        break;
    case CHANGE_INSERT:
        memmove(object->bytes + place + 1, object->bytes + place,
                object->size - place);
        object->bytes[place] = value;
        object->size++;
        break;
    case CHANGE_DELETE:
        if (object->size == 0)
            break;
        memmove(object->bytes + place, object->bytes + place + 1,
                object->size - place - 1);
        object->size--;
        break;
    case CHANGE_DROP:
        object->dropped = true;
        break;
    }
    if (what & 4)
        repair(object);
}

static void put_objects(struct lks_store *store)
{
    struct lks_error error;

    for (size_t i = 0; i < object_count; i++) {
        const struct lks_part part = {changed[i].bytes, changed[i].size};

        if (changed[i].dropped)
            continue;
        FUZZ_CHECK(lks_store_put(store, changed[i].key, &part, 1, NULL,
                                 &error) == LKS_OK);
    }
}

static enum lks_status take_line(const char *line, void *arg)
{
    FUZZ_CHECK(line[0] == '{');
    ++*(unsigned int *)arg;
    return LKS_OK;
}

static bool is_known(enum lks_status status)
{
    return status == LKS_NOT_FOUND || status == LKS_RECLAIMED ||
           status == LKS_ENDED;
}

static void check_answer(enum lks_status status, const struct lks_error *error)
{
    if (!is_known(status))
        fuzz_check_answer(status, error);
}

/* Returns whether nothing was found to be wrong. */
static bool look_at(struct lks_stream *stream)
{
    struct lks_error error = {0};
    unsigned int line_count = 0;
    enum lks_status status;
    char *report = NULL;
    bool sound_report;

    status = lks_inspect_info(stream, &report, &error);
    check_answer(status, &error);
    lks_free(report);
    report = NULL;
    status =
        lks_inspect_walk(stream, 0, UINT64_MAX, take_line, &line_count, &error);
    check_answer(status, &error);
    status = lks_inspect_verify(stream, true, &report, &error);
    check_answer(status, &error);
    sound_report = status == LKS_OK && strstr(report, "\"ok\": true") != NULL;
    lks_free(report);
    return sound_report;
}

/* What verification finds no fault with can be read, as far as it goes. */
static void read_slices(struct lks_stream *stream, bool is_sound)
{
    for (uint64_t step = FIRST_STEP; step < FIRST_STEP + STEP_COUNT; step++) {
        struct lks_batch *batch = NULL;
        struct lks_error error = {0};
        uint32_t rank = step % 2;
        enum lks_status status;

        if (rank >= stream->slice_count)
            continue;
        status = lks_consumer_read_one(stream, step, rank, &batch, &error);
        check_answer(status, &error);
        FUZZ_CHECK(status == LKS_OK || !is_sound || is_known(status));
        if (status == LKS_OK)
            lks_batch_free(batch);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size};
    struct lks_stream *stream = NULL;
    struct lks_error error = {0};
    struct lks_store *store;
    enum lks_status status;
    bool is_sound;

    if (object_count == 0)
        make_stream();
    memcpy(changed, sound, sizeof(changed));
    for (int i = 0; i < (int)CHANGE_COUNT_MAX && input.left > 0; i++)
        change(&input);

    store = open_store();
    put_objects(store);
    status = lks_stream_load(open_store(), &stream, &error);
    check_answer(status, &error);
    if (status == LKS_OK) {
        is_sound = look_at(stream);
        FUZZ_CHECK(is_sound || size > 0);
        read_slices(stream, is_sound);
        lks_stream_close(stream);
    }
    lks_store_close(store);
    return 0;
}
