/*
 * Listings of S3: page by page, until there is enough or the store has told
 * all. What is asked and what is taken is for the kind of listing to say.
 */
#include <stdio.h>
#include <string.h>

#include "store/s3_client.h"

#define PAGE_COUNT_MAX 100000u

static enum lks_status read_page(struct lks_s3_pages *pages,
                                 const struct lks_buf *text,
                                 struct lks_error *error)
{
    char before[LKS_S3_MARKER_SIZE];
    enum lks_status status;

    snprintf(before, sizeof(before), "%s", pages->marker);
    pages->truncated = false;
    if (pages->begin != NULL)
        pages->begin(text, pages->arg);
    status =
        lks_xml_walk(text->data, text->size, pages->ended, pages->arg, error);
    if (status == LKS_CORRUPT)
        return lks_error_prefix(error, LKS_UNAVAILABLE,
                                "a listing that cannot be read");
    if (status == LKS_OK && pages->truncated &&
        strcmp(pages->marker, before) == 0)
        return lks_error_set(error, LKS_UNSUPPORTED,
                             "the store says that more follows and sends none");
    return status;
}

static enum lks_status ask_page(struct lks_s3_pages *pages,
                                struct lks_buf *query,
                                struct lks_buf *text,
                                struct lks_call *call,
                                struct lks_error *error)
{
    struct lks_s3_request request = {
        .op = LKS_S3_READ,
        .method = "GET",
        .text = text,
        .cancel = call->cancel,
    };
    struct lks_s3_answer answer;
    enum lks_status status;

    lks_buf_clear(query);
    status = pages->write_query(query, pages->arg, error);
    if (status == LKS_OK)
        status = lks_buf_append(query, "", 1, error);
    if (status != LKS_OK)
        return status;
    request.query = (const char *)query->data;
    status = lks_s3_send_again(pages->s3, &request, call, &answer, error);
    return status == LKS_OK ? read_page(pages, text, error) : status;
}

enum lks_status lks_s3_read_pages(struct lks_s3_pages *pages,
                                  struct lks_call *call,
                                  struct lks_error *error)
{
    enum lks_status status = LKS_OK;
    struct lks_buf query;
    struct lks_buf text;

    lks_buf_init(&query, pages->query_size_max);
    lks_buf_init(&text, LKS_S3_REPLY_SIZE_MAX);
    pages->truncated = true;
    for (size_t page = 0; status == LKS_OK && page < PAGE_COUNT_MAX &&
                          pages->truncated && pages->count < pages->max;
         page++)
        status = ask_page(pages, &query, &text, call, error);
    lks_buf_done(&query);
    lks_buf_done(&text);
    return status;
}
