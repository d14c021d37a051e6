/*
 * A shard's files as one sequence of tokens.
 *
 * Two chains of digests say what all finished files were: one of their names
 * and sizes, one of their contents. A chain's next link is made from the last
 * one, so that it can be taken up again from the few bytes of an offset.
 */
#include "token_source.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "interrupt.h"
#include "progress.h"
#include "report.h"

/* Widened at once. */
#define TEXT_PIECE_SIZE ((size_t)4 << 10)

/* Records beyond this many bytes of JSON are counted, not listed. */
#define RECORDS_SIZE_MAX (LKS_META_SIZE_MAX - 1024u)

/* What a record takes besides the name, whose bytes may take six each. */
#define RECORD_SIZE 192u

/* Read at once where only the digest counts. */
#define SKIP_TOKENS ((size_t)4 << 10)

uint64_t token_source_argument(const struct token_source *source, size_t index)
{
    return source->plan->shard + index * source->plan->shard_count;
}

static enum lks_status look_at_files(struct token_source *source,
                                     char **paths,
                                     struct lks_error *error)
{
    struct token_file *first = &source->files[0];
    enum lks_status status;

    for (size_t i = 0; i < source->file_count; i++) {
        struct token_file *file = &source->files[i];

        status = token_file_look(file, paths[token_source_argument(source, i)],
                                 source->plan->bin_type, error);
        if (status != LKS_OK)
            return status;
        if (file->type != first->type)
            return fail(error, LKS_INVALID,
                        "%s holds %s, but %s holds %s; "
                        "pack them into streams of their own",
                        file->path, token_type_name(file->type), first->path,
                        token_type_name(first->type));
        source->data_size += file->data_size;
    }
    return LKS_OK;
}

enum lks_status token_source_open(struct token_source *source,
                                  const struct pack_plan *plan,
                                  char **paths,
                                  size_t path_count,
                                  struct lks_error *error)
{
    size_t count = 0;

    if (plan->shard < path_count)
        count = (path_count - 1 - plan->shard) / plan->shard_count + 1;
    memset(source, 0, sizeof(*source));
    source->plan = plan;
    source->file_count = count;
    source->files = calloc(count + 1, sizeof(*source->files));
    source->sums = calloc(count + 1, sizeof(*source->sums));
    source->records = json_array();
    if (source->files == NULL || source->sums == NULL ||
        source->records == NULL)
        return fail(error, LKS_NO_MEMORY, "out of memory for %zu files", count);
    digest_start(&source->content);
    return look_at_files(source, paths, error);
}

void token_source_close(struct token_source *source)
{
    token_reader_close(&source->reader);
    json_decref(source->records);
    free(source->sums);
    free(source->files);
    source->records = NULL;
    source->sums = NULL;
    source->files = NULL;
}

enum token_type token_source_type(const struct token_source *source)
{
    return source->file_count > 0 ? source->files[0].type : TOKEN_U16;
}

static void sum_name(const char *name, char hex[NAME_SUM_HEX_SIZE])
{
    struct digest digest;

    digest_start(&digest);
    digest_add(&digest, name, strlen(name));
    digest_hex(&digest, hex, NAME_SUM_SIZE);
}

/* The next links, made from the last ones and the file that is through. */
static void extend_names(struct token_source *source,
                         const struct token_file *file)
{
    struct digest digest;

    digest_start(&digest);
    digest_add(&digest, source->names, strlen(source->names));
    digest_add(&digest, file->path, strlen(file->path) + 1);
    digest_add_number(&digest, file->data_size);
    digest_hex(&digest, source->names, NAMES_SUM_SIZE);
}

static void extend_before(struct token_source *source, const char *sum)
{
    struct digest digest;

    digest_start(&digest);
    digest_add(&digest, source->before, strlen(source->before));
    digest_add(&digest, sum, strlen(sum));
    digest_hex(&digest, source->before, SUM_SIZE);
}

/* The bytes that lie before token `position` of a file. */
static uint64_t byte_of(const struct token_file *file, uint64_t position)
{
    uint64_t bytes = position * (file->text ? 1 : token_type_width(file->type));

    return bytes < file->data_size ? bytes : file->data_size;
}

/* Notes what was read of the current file since the last note; with `sum`,
 * that this was the last of it. */
static enum lks_status add_record(struct token_source *source,
                                  const char *sum,
                                  struct lks_error *error)
{
    const struct token_file *file = &source->files[source->index];
    uint64_t from = file->data_start + byte_of(file, source->recorded);
    uint64_t to = file->data_start + byte_of(file, source->position);
    uint64_t tokens = source->position - source->recorded;
    size_t size = RECORD_SIZE + 6 * strlen(file->path);
    json_t *record;

    source->recorded = source->position;
    if (source->records_size + size > RECORDS_SIZE_MAX) {
        source->omitted++;
        return LKS_OK;
    }
    record = json_pack("{s:o, s:I, s:I, s:I, s:I, s:s*}", "file",
                       report_name(file->path), "place",
                       (json_int_t)token_source_argument(source, source->index),
                       "from", (json_int_t)from, "to", (json_int_t)to, "tokens",
                       (json_int_t)tokens, "sum", sum);
    source->records_size += size;
    if (json_array_append_new(source->records, record) != 0)
        return fail(error, LKS_NO_MEMORY, "out of memory");
    return LKS_OK;
}

/* The current file is through: on to the next. */
static enum lks_status finish_file(struct token_source *source,
                                   struct lks_error *error)
{
    char *sum = source->sums[source->index];
    enum lks_status status;

    digest_hex(&source->content, sum, SUM_SIZE);
    status = add_record(source, sum, error);
    if (status != LKS_OK)
        return status;
    extend_names(source, &source->files[source->index]);
    extend_before(source, sum);
    token_reader_close(&source->reader);
    source->index++;
    source->position = 0;
    source->recorded = 0;
    digest_start(&source->content);
    return LKS_OK;
}

/* *count tokens of a text file, or fewer; *count becomes how many. */
static enum lks_status read_text(struct token_source *source,
                                 uint8_t *data,
                                 uint64_t *count,
                                 struct lks_error *error)
{
    uint64_t left = source->reader.file->data_size - source->position;
    uint8_t bytes[TEXT_PIECE_SIZE];
    enum lks_status status;

    if (left == 0) {
        token_fill(data, TOKEN_U16, TOKEN_END, 1);
        *count = 1;
        return LKS_OK;
    }
    if (*count > left)
        *count = left;
    if (*count > sizeof(bytes))
        *count = sizeof(bytes);
    status = token_reader_read(&source->reader, bytes, *count, error);
    if (status != LKS_OK)
        return status;
    digest_add(&source->content, bytes, *count);
    source->data_done += *count;
    for (uint64_t i = 0; i < *count; i++) {
        data[2 * i] = bytes[i];
        data[2 * i + 1] = 0;
    }
    return LKS_OK;
}

static enum lks_status read_tokens(struct token_source *source,
                                   uint8_t *data,
                                   uint64_t *count,
                                   struct lks_error *error)
{
    const struct token_file *file = source->reader.file;
    uint64_t left = file->token_count - source->position;
    enum lks_status status;
    size_t size;

    if (*count > left)
        *count = left;
    size = (size_t)*count * token_type_width(file->type);
    status = token_reader_read(&source->reader, data, size, error);
    if (status != LKS_OK)
        return status;
    digest_add(&source->content, data, size);
    source->data_done += size;
    return LKS_OK;
}

/* Some tokens of the current file, which has some left. */
static enum lks_status read_part(struct token_source *source,
                                 uint8_t *data,
                                 uint64_t *count,
                                 struct lks_error *error)
{
    const struct token_file *file = &source->files[source->index];
    enum lks_status status = LKS_OK;

    if (interrupted())
        return fail(error, LKS_CANCELLED, "interrupted");
    if (source->reader.file == NULL)
        status = token_reader_open(&source->reader, file, error);
    if (status == LKS_OK)
        status = file->text ? read_text(source, data, count, error)
                            : read_tokens(source, data, count, error);
    if (status == LKS_OK)
        source->position += *count;
    return status;
}

enum lks_status token_source_read(struct token_source *source,
                                  uint8_t *data,
                                  uint64_t count,
                                  uint64_t *out_count,
                                  struct lks_error *error)
{
    size_t width = token_type_width(source->plan->type);
    enum lks_status status = LKS_OK;
    uint64_t done = 0;

    if (source->peeked && count > 0) {
        memcpy(data, source->peeked_token, width);
        source->peeked = false;
        done = 1;
    }
    while (status == LKS_OK && source->index < source->file_count &&
           done < count) {
        uint64_t part = count - done;
        uint64_t left =
            source->files[source->index].token_count - source->position;

        if (left > 0) {
            status = read_part(source, data + done * width, &part, error);
            done += status == LKS_OK ? part : 0;
            left -= status == LKS_OK ? part : 0;
        }
        if (status == LKS_OK && left == 0)
            status = finish_file(source, error);
    }
    if (status == LKS_OK)
        *out_count = done;
    return status;
}

enum lks_status token_source_peek(struct token_source *source,
                                  uint8_t token[TOKEN_WIDTH_MAX],
                                  bool *out_has,
                                  struct lks_error *error)
{
    uint64_t count = 1;
    enum lks_status status = LKS_OK;

    if (!source->peeked)
        status =
            token_source_read(source, source->peeked_token, 1, &count, error);
    if (status != LKS_OK)
        return status;
    source->peeked = count == 1;
    memcpy(token, source->peeked_token, TOKEN_WIDTH_MAX);
    *out_has = source->peeked;
    return LKS_OK;
}

void token_source_place(const struct token_source *source,
                        struct source_place *out_place)
{
    assert(!source->peeked);
    *out_place = (struct source_place){
        .file = token_source_argument(source, source->index),
        .at = source->position,
    };
    if (source->index < source->file_count)
        sum_name(source->files[source->index].path, out_place->name);
    digest_hex(&source->content, out_place->sum, SUM_SIZE);
    memcpy(out_place->names, source->names, sizeof(source->names));
    memcpy(out_place->before, source->before, sizeof(source->before));
}

/* Forgets what was noted. */
static void clear_records(struct token_source *source)
{
    json_array_clear(source->records);
    source->records_size = 0;
    source->omitted = 0;
    source->recorded = source->position;
}

char *token_source_take_meta(struct token_source *source, uint64_t pad)
{
    enum lks_status status = LKS_OK;
    char *text = NULL;
    json_t *meta;

    if (source->position > source->recorded)
        status = add_record(source, NULL, NULL);
    meta = json_pack("{s:O, s:I}", "sources", source->records, "pad",
                     (json_int_t)pad);
    if (source->omitted > 0)
        json_object_set_new(meta, "omitted",
                            json_integer((json_int_t)source->omitted));
    if (status == LKS_OK)
        text = json_dumps(meta, JSON_COMPACT);
    json_decref(meta);
    clear_records(source);
    return text;
}

/* Reads and drops, until it stands where `place` says. */
static enum lks_status skip_to(struct token_source *source,
                               const struct source_place *place,
                               struct lks_error *error)
{
    uint8_t dropped[SKIP_TOKENS * TOKEN_WIDTH_MAX];
    struct progress progress;
    enum lks_status status = LKS_OK;

    progress_start(&progress, "checking what was packed before",
                   source->data_size, true);
    while (status == LKS_OK && source->index < source->file_count) {
        const struct token_file *file = &source->files[source->index];
        bool here = token_source_argument(source, source->index) == place->file;
        uint64_t end = here ? place->at : file->token_count;
        uint64_t part = end - source->position;

        if (part > SKIP_TOKENS)
            part = SKIP_TOKENS;
        if (part > 0)
            status = read_part(source, dropped, &part, error);
        else if (here)
            break;
        else
            status = finish_file(source, error);
        clear_records(source);
        progress_show(&progress, source->data_done);
    }
    progress_stop(&progress);
    return status;
}

/* Takes it that earlier files hold what they held, if their names and sizes
 * are the same. */
static void trust_earlier(struct token_source *source,
                          const struct source_place *place)
{
    while (source->index < source->file_count &&
           token_source_argument(source, source->index) < place->file) {
        extend_names(source, &source->files[source->index]);
        source->data_done += source->files[source->index].data_size;
        source->index++;
    }
    memcpy(source->before, place->before, sizeof(source->before));
}

/* Is the argument at `place` the file that was being packed? */
static enum lks_status check_current(const struct token_source *source,
                                     const struct source_place *place,
                                     struct lks_error *error)
{
    uint64_t behind = token_source_argument(source, source->file_count);
    /* A place at the start of a file has nothing of it. */
    uint64_t last =
        place->at > 0 ? place->file : place->file - source->plan->shard_count;
    const struct token_file *file;
    char name[NAME_SUM_HEX_SIZE];

    if (place->file < source->plan->shard ||
        (place->file - source->plan->shard) % source->plan->shard_count != 0)
        return fail(error, LKS_INVALID, "the producer's offset is damaged");
    if (place->file > behind || (place->file == behind && place->at > 0))
        return fail(error, LKS_INVALID,
                    "file %" PRIu64 " is missing: this "
                    "producer had packed up to it; give the same files in the "
                    "same order",
                    last + 1);
    if (place->file == behind || place->name[0] == '\0')
        return LKS_OK;

    file = &source->files[(place->file - source->plan->shard) /
                          source->plan->shard_count];
    sum_name(file->path, name);
    if (strcmp(name, place->name) != 0)
        return fail(error, LKS_INVALID,
                    "%s is not what was file %" PRIu64
                    " when this producer packed it; give the same files in "
                    "the same order",
                    file->path, place->file + 1);
    if (file->token_count < place->at)
        return fail(error, LKS_INVALID,
                    "%s has changed: %" PRIu64
                    " tokens of it are in the stream, and it has %" PRIu64,
                    file->path, place->at, file->token_count);
    return LKS_OK;
}

enum lks_status token_source_resume(struct token_source *source,
                                    const struct source_place *place,
                                    bool *out_earlier,
                                    struct lks_error *error)
{
    struct source_place now;
    enum lks_status status;

    status = check_current(source, place, error);
    if (status == LKS_OK && !source->plan->recheck_all)
        trust_earlier(source, place);
    if (status == LKS_OK)
        status = skip_to(source, place, error);
    if (status != LKS_OK)
        return status;

    token_source_place(source, &now);
    *out_earlier = strcmp(now.names, place->names) != 0 ||
                   strcmp(now.before, place->before) != 0;
    if (*out_earlier)
        return fail(error, LKS_INVALID,
                    "one of the files before file %" PRIu64
                    " has changed since it was packed; give the same files, "
                    "or use another --producer",
                    place->file + 1);
    if (strcmp(now.sum, place->sum) != 0)
        return fail(error, LKS_INVALID,
                    "%s has changed: the %" PRIu64
                    " tokens that are in the stream are not its first; give "
                    "the same file, or use another --producer",
                    source->files[source->index].path, place->at);
    return LKS_OK;
}
