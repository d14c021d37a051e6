/*
 * A shard's files as one sequence of tokens, read once from front to back,
 * with what it takes to come back to any place in it and know that all before
 * is unchanged.
 */
#ifndef LAKESTREAM_CLI_TOKEN_SOURCE_H
#define LAKESTREAM_CLI_TOKEN_SOURCE_H

#include <jansson.h>

#include "digest.h"
#include "pack_plan.h"
#include "token_reader.h"

/* So many bytes of a SHA-256, that all fit in an offset: for contents, for a
 * list of names, for one name. */
#define SUM_SIZE ((size_t)12)
#define SUM_HEX_SIZE (2 * SUM_SIZE + 1)
#define NAMES_SUM_SIZE ((size_t)8)
#define NAMES_SUM_HEX_SIZE (2 * NAMES_SUM_SIZE + 1)
#define NAME_SUM_SIZE ((size_t)4)
#define NAME_SUM_HEX_SIZE (2 * NAME_SUM_SIZE + 1)

/* Where a source stands. */
struct source_place {
    uint64_t file;                  /* place among all arguments */
    uint64_t at;                    /* tokens consumed of this file */
    char name[NAME_SUM_HEX_SIZE];   /* its name; "" behind the last file */
    char sum[SUM_HEX_SIZE];         /* what was consumed of it */
    char names[NAMES_SUM_HEX_SIZE]; /* names and sizes of all files before */
    char before[SUM_HEX_SIZE];      /* contents of all files before */
};

struct token_source {
    const struct pack_plan *plan;
    struct token_file *files; /* of this shard */
    size_t file_count;
    uint64_t data_size; /* bytes in all of them */

    /* Where it stands. */
    size_t index;
    uint64_t position;
    struct digest content; /* of the current file, so far */
    char names[NAMES_SUM_HEX_SIZE];
    char before[SUM_HEX_SIZE];
    uint64_t data_done;

    /* A token that was looked at ahead of its time. */
    bool peeked;
    uint8_t peeked_token[TOKEN_WIDTH_MAX];

    /* What was read since the last token_source_take_meta(). Of the current
     * file, that is from token `recorded` on. */
    json_t *records;
    size_t records_size;
    uint64_t omitted;
    uint64_t recorded;

    /* On resuming: the sum of each file before, to find the changed one. */
    char (*sums)[SUM_HEX_SIZE];

    struct token_reader reader; /* last: it holds a large buffer */
};

/* Looks at each file of the shard. They must all hold one type. */
enum lks_status token_source_open(struct token_source *source,
                                  const struct pack_plan *plan,
                                  char **paths,
                                  size_t path_count,
                                  struct lks_error *error);
void token_source_close(struct token_source *source);

/* The type of its tokens; u16 if it has no file. */
enum token_type token_source_type(const struct token_source *source);

/* Up to `count` tokens; fewer only at the end of all. */
enum lks_status token_source_read(struct token_source *source,
                                  uint8_t *data,
                                  uint64_t count,
                                  uint64_t *out_count,
                                  struct lks_error *error);

/* The next token without consuming it; *out_has is false at the end. */
enum lks_status token_source_peek(struct token_source *source,
                                  uint8_t token[TOKEN_WIDTH_MAX],
                                  bool *out_has,
                                  struct lks_error *error);

/* Not after a peek. */
void token_source_place(const struct token_source *source,
                        struct source_place *out_place);

/* Reads on to `place` and compares on the way. LKS_INVALID if something before
 * it is not as it was; *out_earlier says that it is in an earlier file, and
 * the caller may know in which. */
enum lks_status token_source_resume(struct token_source *source,
                                    const struct source_place *place,
                                    bool *out_earlier,
                                    struct lks_error *error);

/* {"sources": [...], "pad": n} for what was read since the last call, at most
 * LKS_META_SIZE_MAX bytes. To be freed; NULL without memory. */
char *token_source_take_meta(struct token_source *source, uint64_t pad);

/* The place among the arguments of the shard's file `index`. */
uint64_t token_source_argument(const struct token_source *source, size_t index);

#endif
