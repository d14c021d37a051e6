/* The S3 store keeps the contract: over the server that LKS_S3_URL and the AWS
 * variables name. Run by test_contract.py. */
#include <stdio.h>

#include "support/store_suite.h"

static void place_make(char place[STORE_PLACE_SIZE])
{
    uint64_t number;

    lks_env_random(lks_env_real(), &number, sizeof(number));
    snprintf(place, STORE_PLACE_SIZE, "%s/%016llx", getenv("LKS_S3_URL"),
             (unsigned long long)number);
}

static void place_remove(const char *place)
{
    (void)place; /* The server's end is the objects' end. */
}

static enum lks_status open_place(const char *place,
                                  struct lks_store **out_store,
                                  struct lks_error *error)
{
    return lks_store_connect(place, lks_env_real(), NULL, out_store, error);
}

int main(void)
{
    static const struct store_backend backend = {
        .name = "s3",
        .place_make = place_make,
        .place_remove = place_remove,
        .open = open_place,
        .name_count = 40,
        .thread_count = 8,
        .large_size = (20u << 20) + 3,
    };

    if (getenv("LKS_S3_URL") == NULL) {
        fprintf(stderr, "LKS_S3_URL names no bucket\n");
        return 2;
    }
    return store_suite_run(&backend);
}
