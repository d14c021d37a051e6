/* Puts an object of a given size, reads it back and compares:
 *     parts_s3 SIZE URL
 * What does not fit into memory twice is made and checked by pieces. Run by
 * test_parts.py. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "store/store.h"

#define PIECE_SIZE ((size_t)1 << 20)
#define READ_SIZE ((size_t)64 << 20)

/* The object is this piece again and again, each with its number in front. */
static uint8_t pattern[PIECE_SIZE - 8];

static enum lks_status write_pieces(struct lks_store *store,
                                    uint64_t size,
                                    struct lks_error *error)
{
    size_t count = (size_t)((size + PIECE_SIZE - 1) / PIECE_SIZE);
    struct lks_part *parts = calloc(2 * count, sizeof(*parts));
    uint8_t(*numbers)[8] = calloc(count, sizeof(*numbers));
    enum lks_status status = LKS_NO_MEMORY;

    for (size_t i = 0; parts != NULL && numbers != NULL && i < count; i++) {
        uint64_t left = size - (uint64_t)i * PIECE_SIZE;

        lks_put_u64(numbers[i], i);
        parts[2 * i] = (struct lks_part){numbers[i], left < 8 ? left : 8};
        left -= parts[2 * i].size;
        parts[2 * i + 1] =
            (struct lks_part){pattern,
                              left < sizeof(pattern) ? left : sizeof(pattern)};
    }
    if (parts != NULL && numbers != NULL)
        status = lks_store_put(store, "large", parts, 2 * count, NULL, error);
    free(parts);
    free(numbers);
    return status;
}

static enum lks_status check_pieces(struct lks_store *store,
                                    uint64_t size,
                                    struct lks_error *error)
{
    uint8_t *data = malloc(READ_SIZE);
    enum lks_status status = data != NULL ? LKS_OK : LKS_NO_MEMORY;

    for (uint64_t at = 0; at < size && status == LKS_OK; at += READ_SIZE) {
        size_t wanted = (size_t)(size - at < READ_SIZE ? size - at : READ_SIZE);

        status =
            lks_store_get_exact(store, "large", at, data, wanted, NULL, error);
        for (size_t i = 0; i + 8 <= wanted && status == LKS_OK;
             i += PIECE_SIZE) {
            size_t rest = wanted - i - 8;

            rest = rest < sizeof(pattern) ? rest : sizeof(pattern);
            if (lks_get_u64(data + i) != (at + i) / PIECE_SIZE ||
                memcmp(data + i + 8, pattern, rest) != 0)
                status = lks_error_set(error, LKS_CORRUPT, "wrong at %" PRIu64,
                                       at + i);
        }
    }
    free(data);
    return status;
}

int main(int count, char **words)
{
    const struct lks_env *env = lks_env_real();
    struct lks_store *store = NULL;
    struct lks_error error = {.message = "no memory"};
    enum lks_status status;
    uint64_t begin_ns;
    uint64_t size;

    if (count != 3 || !lks_parse_u64(words[1], &size))
        return 2;
    for (size_t i = 0; i < sizeof(pattern); i++)
        pattern[i] = (uint8_t)(i * 2654435761u >> 13);
    begin_ns = lks_env_now_ns(env);
    status = lks_store_connect(words[2], env, NULL, &store, &error);
    if (status == LKS_OK)
        status = write_pieces(store, size, &error);
    if (status == LKS_OK)
        printf("put %.1f s\n", (double)(lks_env_now_ns(env) - begin_ns) / 1e9);
    if (status == LKS_OK)
        status = check_pieces(store, size, &error);
    lks_store_close(store);
    printf("%s%s%s\n", lks_status_name(status), status == LKS_OK ? "" : ": ",
           status == LKS_OK ? "" : error.message);
    return status == LKS_OK ? 0 : 1;
}
