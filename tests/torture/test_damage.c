/*
 * A small stream with every kind of object, damaged one byte at a time: each
 * byte flipped, the object cut at each length, and made longer. Every damage is
 * noticed, and named by the object it is in.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/options.h"
#include "manifest/stream.h"
#include "store/store.h"
#include "support/torture.h"

/* The stream begins shortly before a block's end, as a fork may: its first
 * block is small, and so quickly verified. */
#define FIRST_STEP 252u
#define STEP_COUNT 6u
#define SLICE_COUNT 9u
#define OBJECT_MAX 64u
#define OBJECT_SIZE_MAX (64u << 10)

struct object {
    char key[LKS_KEY_SIZE_MAX + 1];
    uint8_t *bytes;
    size_t size;
};

struct world {
    struct lks_store *store; /* a second handle on the same objects */
    struct lks_stream *stream;
    struct object objects[OBJECT_MAX];
    size_t object_count;
};

struct tally {
    const char *prefix;
    size_t objects;
    size_t flips;
    size_t cuts;
    size_t additions;
};

static void open_store(const char *name, struct lks_store **out_store)
{
    struct lks_error error;

    assert_status(LKS_OK,
                  lks_store_mem_open(name, lks_env_real(), out_store, &error));
}

static void put(struct world *world,
                const char *key,
                const void *bytes,
                size_t size)
{
    struct lks_part part = {bytes, size};
    struct lks_error error;

    assert_status(LKS_OK,
                  lks_store_put(world->store, key, &part, 1, NULL, &error));
}

static void put_descriptor(struct world *world)
{
    struct lks_descriptor descriptor = {
        .format = LKS_FORMAT_VERSION,
        .stream = {7, 7, 7},
        .dp = SLICE_COUNT,
        .cp = 1,
        .producers_to_end = 1,
        .first_step = FIRST_STEP,
    };
    struct lks_buf buf;
    struct lks_error error;

    lks_buf_init(&buf, LKS_DESCRIPTOR_SIZE_MAX);
    assert_status(LKS_OK, lks_descriptor_encode(&descriptor, &buf, &error));
    put(world, LKS_DESCRIPTOR_NAME, buf.data, buf.size);
    lks_buf_done(&buf);
}

/* Even steps have slices of one length, odd ones a table in their footer; all
 * have padding. */
static void append_one(struct lks_producer *producer, size_t number)
{
    static const char text[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    struct lks_slice slices[SLICE_COUNT];
    struct lks_error error;

    for (size_t i = 0; i < SLICE_COUNT; i++) {
        slices[i].data = text;
        slices[i].size = number % 2 == 0 ? 10 : i + 1;
    }
    slices[SLICE_COUNT - 1].size += number % 2 == 0 ? 0 : 20;
    assert_status(LKS_OK,
                  lks_producer_append(producer, slices, SLICE_COUNT, "offset",
                                      6, "meta", 4, NULL, NULL, &error));
    assert_status(LKS_OK, lks_producer_flush(producer, &error));
}

static void fill(struct world *world)
{
    struct lks_options *options = NULL;
    struct lks_producer *producer = NULL;
    struct lks_error error;

    assert_status(LKS_OK, lks_options_new(&options, &error));
    assert_status(LKS_OK,
                  lks_options_set(options, "commit_gap_ms", "0", &error));
    assert_status(LKS_OK, lks_producer_open(world->stream, "p", options,
                                            &producer, &error));
    for (size_t i = 0; i < STEP_COUNT; i++)
        append_one(producer, i);
    assert_status(LKS_OK, lks_producer_finish(producer, &error));
    lks_producer_close(producer);
    lks_options_free(options);
}

static void read_objects(struct world *world)
{
    static struct lks_listed listed[OBJECT_MAX];
    struct lks_error error;

    assert_status(LKS_OK,
                  lks_store_list(world->store, "", "", OBJECT_MAX, listed,
                                 &world->object_count, NULL, &error));
    assert_true(world->object_count < OBJECT_MAX);
    for (size_t i = 0; i < world->object_count; i++) {
        struct object *object = &world->objects[i];

        memcpy(object->key, listed[i].key, sizeof(object->key));
        assert_true(listed[i].size < OBJECT_SIZE_MAX);
        object->size = (size_t)listed[i].size;
        object->bytes = malloc(object->size + 1);
        assert_non_null(object->bytes);
        assert_status(LKS_OK, lks_store_get_exact(world->store, object->key, 0,
                                                  object->bytes, object->size,
                                                  NULL, &error));
    }
}

static int set_up(void **state)
{
    static struct world world;
    struct lks_store *store = NULL;
    struct lks_error error;

    open_store("damage", &world.store);
    open_store("damage", &store);
    put_descriptor(&world);
    assert_status(LKS_OK, lks_stream_load(store, &world.stream, &error));
    fill(&world);
    read_objects(&world);
    *state = &world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;

    for (size_t i = 0; i < world->object_count; i++)
        free(world->objects[i].bytes);
    lks_stream_close(world->stream);
    lks_store_close(world->store);
    return 0;
}

static bool descriptor_is_sound(struct lks_error *error)
{
    struct lks_stream *stream = NULL;
    struct lks_store *store = NULL;
    enum lks_status status;

    open_store("damage", &store);
    status = lks_stream_load(store, &stream, error);
    lks_stream_close(stream);
    return status == LKS_OK;
}

/* Whether the library sees that something is wrong with `object`. */
static bool is_noticed(struct world *world, const struct object *object)
{
    struct lks_error error;
    enum lks_status status;
    char *json = NULL;
    bool noticed;

    if (strcmp(object->key, LKS_DESCRIPTOR_NAME) == 0)
        return !descriptor_is_sound(&error) &&
               strstr(error.message, LKS_DESCRIPTOR_NAME) != NULL;
    status = lks_stream_verify(world->stream, 1, &json, &error);
    if (status != LKS_OK)
        return strstr(error.message, object->key) != NULL;
    noticed = strstr(json, "\"problem_count\":0") == NULL &&
              strstr(json, "\"problem_count\": 0") == NULL &&
              strstr(json, object->key) != NULL;
    lks_text_free(json);
    return noticed;
}

static void expect_noticed(struct world *world,
                           const struct object *object,
                           const uint8_t *bytes,
                           size_t size,
                           const char *what,
                           size_t at)
{
    put(world, object->key, bytes, size);
    if (!is_noticed(world, object))
        fail_msg("%s: %s at %zu of %zu goes unnoticed", object->key, what, at,
                 object->size);
}

static void damage(struct world *world,
                   const struct object *object,
                   struct tally *tally)
{
    uint8_t *bytes = object->bytes;

    tally->objects++;
    for (size_t i = 0; i < object->size; i += TORTURE_STRIDE) {
        uint8_t bit = (uint8_t)(1u << (i % 8));

        bytes[i] ^= bit;
        expect_noticed(world, object, bytes, object->size, "a flipped bit", i);
        bytes[i] ^= bit;
        tally->flips++;
    }
    for (size_t size = 0; size < object->size; size += TORTURE_STRIDE) {
        expect_noticed(world, object, bytes, size, "a cut", size);
        tally->cuts++;
    }
    bytes[object->size] = 0;
    expect_noticed(world, object, bytes, object->size + 1, "a byte more",
                   object->size);
    tally->additions++;
    put(world, object->key, bytes, object->size);
}

static void every_damaged_byte_is_noticed(void **state)
{
    struct tally tallies[] = {
        {.prefix = LKS_DESCRIPTOR_NAME},
        {.prefix = "manifest/"},
        {.prefix = "index/"},
        {.prefix = "data/"},
    };
    struct world *world = *state;
    char *json = NULL;
    struct lks_error error;

    for (size_t i = 0; i < world->object_count; i++) {
        const struct object *object = &world->objects[i];

        for (size_t k = 0; k < sizeof(tallies) / sizeof(*tallies); k++) {
            if (strncmp(object->key, tallies[k].prefix,
                        strlen(tallies[k].prefix)) == 0)
                damage(world, object, &tallies[k]);
        }
    }
    for (size_t k = 0; k < sizeof(tallies) / sizeof(*tallies); k++) {
        print_message("%-12s %2zu objects, %5zu flips, %5zu cuts, %2zu "
                      "additions: all noticed\n",
                      tallies[k].prefix, tallies[k].objects, tallies[k].flips,
                      tallies[k].cuts, tallies[k].additions);
        assert_true(tallies[k].objects > 0);
    }
    assert_status(LKS_OK, lks_stream_verify(world->stream, 1, &json, &error));
    assert_non_null(strstr(json, "\"ok\":"));
    lks_text_free(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_damaged_byte_is_noticed, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
