/*
 * XML by expat, for the few flat documents that S3 answers with. Servers are
 * not trusted: depth and texts have a ceiling, and declarations are refused.
 */
#include "store/s3_xml.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <expat.h>

#include "base/alloc.h"

struct walk {
    XML_Parser parser;
    lks_xml_fn *ended;
    void *arg;
    struct lks_error *error;
    enum lks_status status;
    size_t path_size;
    size_t text_size;
    char path[LKS_XML_PATH_SIZE];
    char text[LKS_XML_TEXT_SIZE];
};

static void stop(struct walk *walk, enum lks_status status)
{
    walk->status = status;
    XML_StopParser(walk->parser, XML_FALSE);
}

static void stop_for(struct walk *walk, const char *reason)
{
    stop(walk, lks_error_set(walk->error, LKS_CORRUPT, "XML %s", reason));
}

static void start_element(void *arg, const char *name, const char **attributes)
{
    struct walk *walk = arg;
    const char *colon = strrchr(name, ':');
    const char *local = colon != NULL ? colon + 1 : name;
    size_t size = strlen(local);

    (void)attributes;
    if (walk->path_size + size + 2 > sizeof(walk->path)) {
        stop_for(walk, "is nested too deeply");
        return;
    }
    if (walk->path_size > 0)
        walk->path[walk->path_size++] = '/';
    memcpy(walk->path + walk->path_size, local, size + 1);
    walk->path_size += size;
    walk->text_size = 0;
}

static void end_element(void *arg, const char *name)
{
    struct walk *walk = arg;
    char *slash;
    enum lks_status status;

    (void)name;
    walk->text[walk->text_size] = '\0';
    status = walk->ended(walk->path, walk->text, walk->arg, walk->error);
    if (status != LKS_OK)
        stop(walk, status);
    slash = strrchr(walk->path, '/');
    walk->path_size = slash != NULL ? (size_t)(slash - walk->path) : 0;
    walk->path[walk->path_size] = '\0';
    walk->text_size = 0;
}

static void add_text(void *arg, const char *data, int size)
{
    struct walk *walk = arg;

    if ((size_t)size >= sizeof(walk->text) - walk->text_size) {
        stop_for(walk, "has a text that is too long");
        return;
    }
    memcpy(walk->text + walk->text_size, data, (size_t)size);
    walk->text_size += (size_t)size;
}

static void refuse_declaration(void *arg,
                               const char *name,
                               const char *system,
                               const char *public,
                               int has_internal_subset)
{
    (void)name;
    (void)system;
    (void)public;
    (void)has_internal_subset;
    stop_for(arg, "declares a document type");
}

enum lks_status lks_xml_walk(const void *data,
                             size_t size,
                             lks_xml_fn *ended,
                             void *arg,
                             struct lks_error *error)
{
    static const XML_Memory_Handling_Suite memory = {lks_alloc, lks_realloc,
                                                     lks_free};
    struct walk *walk = lks_alloc_zero(1, sizeof(*walk));
    enum lks_status status;

    assert(size <= INT32_MAX);

    if (walk == NULL)
        return lks_error_no_memory(error);
    walk->ended = ended;
    walk->arg = arg;
    walk->error = error;
    walk->parser = XML_ParserCreate_MM("UTF-8", &memory, NULL);
    if (walk->parser == NULL) {
        status = lks_error_no_memory(error);
        goto done;
    }
    XML_SetUserData(walk->parser, walk);
    XML_SetElementHandler(walk->parser, start_element, end_element);
    XML_SetCharacterDataHandler(walk->parser, add_text);
    XML_SetStartDoctypeDeclHandler(walk->parser, refuse_declaration);
    if (XML_Parse(walk->parser, data, (int)size, 1) != XML_STATUS_OK &&
        walk->status == LKS_OK) {
        enum XML_Error code = XML_GetErrorCode(walk->parser);

        if (code == XML_ERROR_NO_MEMORY)
            walk->status = lks_error_no_memory(error);
        else
            walk->status = lks_error_set(error, LKS_CORRUPT, "XML: %s",
                                         XML_ErrorString(code));
    }
    status = walk->status;

done:
    if (walk->parser != NULL)
        XML_ParserFree(walk->parser);
    lks_free(walk);
    return status;
}

static void copy_text(char *to, size_t size, const char *text)
{
    snprintf(to, size, "%s", text);
    /* It goes into messages of one line. */
    for (; *to != '\0'; to++) {
        if ((unsigned char)*to < 0x20)
            *to = ' ';
    }
}

static enum lks_status take_failure(const char *path,
                                    const char *text,
                                    void *arg,
                                    struct lks_error *error)
{
    struct lks_xml_failure *failure = arg;
    const char *name = strrchr(path, '/');

    (void)error;
    /* Amazon's token service puts its <Error> into an <ErrorResponse>. */
    if (strncmp(path, "Error", 5) != 0 || name == NULL)
        return LKS_OK;
    if (strcmp(name, "/Code") == 0)
        copy_text(failure->code, sizeof(failure->code), text);
    else if (strcmp(name, "/Message") == 0)
        copy_text(failure->message, sizeof(failure->message), text);
    else if (strcmp(name, "/Region") == 0)
        copy_text(failure->region, sizeof(failure->region), text);
    else if (strcmp(name, "/RequestId") == 0)
        copy_text(failure->request_id, sizeof(failure->request_id), text);
    return LKS_OK;
}

void lks_xml_failure(const void *data,
                     size_t size,
                     struct lks_xml_failure *out_failure)
{
    memset(out_failure, 0, sizeof(*out_failure));
    if (size > 0 && size <= INT32_MAX)
        lks_xml_walk(data, size, take_failure, out_failure, NULL);
}

struct search {
    const char *path;
    char *text;
    size_t text_size;
    bool found;
};

static enum lks_status compare_path(const char *path,
                                    const char *text,
                                    void *arg,
                                    struct lks_error *error)
{
    struct search *search = arg;

    (void)error;
    if (!search->found && strcmp(path, search->path) == 0) {
        snprintf(search->text, search->text_size, "%s", text);
        search->found = true;
    }
    return LKS_OK;
}

bool lks_xml_find(const void *data,
                  size_t size,
                  const char *path,
                  char *text,
                  size_t text_size)
{
    struct search search = {path, text, text_size, false};

    if (size > 0 && size <= INT32_MAX)
        lks_xml_walk(data, size, compare_path, &search, NULL);
    return search.found;
}

int64_t lks_xml_time(const char *text)
{
    struct tm utc;

    memset(&utc, 0, sizeof(utc));
    if (strptime(text, "%Y-%m-%dT%H:%M:%S", &utc) == NULL)
        return 0;
    return (int64_t)timegm(&utc) * 1000;
}
