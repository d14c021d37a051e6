/* The S3 store keeps the contract: over the server that LKS_S3_URL and the AWS
 * variables name. Run by test_contract.py. */
#include <stdio.h>

#include "store/s3_client.h"
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

/* Begins an upload in parts, and sends one of them. */
static void leave_upload(struct lks_store *store, const char *key)
{
    static const struct lks_part part = {"begun", 5};
    const struct lks_body body = {.parts = &part, .part_count = 1, .size = 5};
    struct lks_s3_request request = {
        .op = LKS_S3_READ,
        .method = "POST",
        .key = key,
        .query = "uploads=",
    };
    struct lks_call call = LKS_CALL_INIT;
    struct lks_s3_answer answer;
    struct lks_error error;
    struct lks_buf text;
    char query[200];
    char id[100];

    lks_buf_init(&text, 1 << 16);
    request.text = &text;
    assert_status(LKS_OK, lks_s3_send_again((struct lks_s3 *)store, &request,
                                            &call, &answer, &error));
    assert_true(lks_xml_find(text.data, text.size,
                             "InitiateMultipartUploadResult/UploadId", id,
                             sizeof(id)));
    lks_buf_done(&text);
    snprintf(query, sizeof(query), "partNumber=1&uploadId=%s", id);
    request = (struct lks_s3_request){
        .op = LKS_S3_READ,
        .method = "PUT",
        .key = key,
        .query = query,
        .body = &body,
    };
    assert_status(LKS_OK, lks_s3_send_again((struct lks_s3 *)store, &request,
                                            &call, &answer, &error));
}

int main(void)
{
    static const struct store_backend backend = {
        .name = "s3",
        .place_make = place_make,
        .place_remove = place_remove,
        .open = open_place,
        .leave_upload = leave_upload,
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
