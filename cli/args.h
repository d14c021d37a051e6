/*
 * The command line: what a command accepts, and what was given.
 *
 * Each command is one row of the table in main.c; its options are a table in
 * its own file. Below them lie the options of the library, which come from
 * lks_options_describe() and so are written down nowhere here.
 */
#ifndef LAKESTREAM_CLI_ARGS_H
#define LAKESTREAM_CLI_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lakestream.h"

#define ARGS_LIBRARY_MAX 64u /* options of the library */

enum exit_code {
    EXIT_DONE = 0,
    EXIT_FAILED = 1,        /* it was tried, and did not work */
    EXIT_USAGE = 2,         /* the command line alone shows that it cannot */
    EXIT_INTERRUPTED = 128, /* plus the signal's number */
};

enum arg_type {
    ARG_FLAG,
    ARG_COUNT,  /* a whole number in [min, max] */
    ARG_SIZE,   /* the same; takes KiB, MiB, GiB */
    ARG_SIGNED, /* the same; may be negative */
    ARG_TEXT,   /* `min` to `max` bytes; any number of them if max is 0 */
    ARG_ID,     /* a producer's or a group's */
    ARG_CHOICE, /* one of the words in `value`, "a|b|c" */
};

struct arg_option {
    const char *name; /* without its dashes */
    char letter;      /* its short form, or 0 */
    enum arg_type type;
    const char *value;  /* what the help calls it: "N" */
    const char *preset; /* the default, or NULL */
    int64_t min;
    int64_t max;
    bool required;
    const char *text;
};

struct args;

struct command {
    const char *name;     /* "pack", "bench ingest" */
    const char *operands; /* what the help calls them: "URL FILE..." */
    size_t operands_min;
    size_t operands_max;
    bool opens;        /* takes the library's options */
    const char *reads; /* whose of them its help tells, "a|b"; or NULL */
    bool reports;      /* takes --json */
    const char *text;
    const char *more; /* paragraphs of the help, or NULL */
    const struct arg_option *options;
    size_t option_count;
    int (*run)(struct args *args);
};

/* The value of one option. */
struct arg_value {
    const char *text; /* NULL if neither given nor preset */
    int64_t number;
    bool given;
};

struct args {
    const struct command *command;
    char **operands;
    size_t operand_count;
    struct arg_value *values;             /* one per option of the command */
    struct lks_options *options;          /* the library's */
    bool library_given[ARGS_LIBRARY_MAX]; /* by their rows in its table */
    const char *library_texts[ARGS_LIBRARY_MAX]; /* the environment's, too */
    bool json;
    bool help;
    int verbosity;
};

/*
 * Reads what follows the command's name. EXIT_DONE, or EXIT_USAGE after one
 * line on stderr. `words` must outlive the args.
 */
int args_parse(struct args *args,
               const struct command *command,
               char **words,
               size_t word_count);
void args_done(struct args *args);

/* `name` must be an option of the command. */
bool args_given(const struct args *args, const char *name);
const char *args_text(const struct args *args, const char *name);
int64_t args_signed(const struct args *args, const char *name);
uint64_t args_number(const struct args *args, const char *name);

/* What the library's option --`flag` was set to, by the command line or else by
 * the environment; "" if it was not. */
const char *args_library_text(const struct args *args, const char *flag);

/* Was it the command line? */
bool args_library_given(const struct args *args, const char *flag);

/* Has the command an option of its own with this name? */
bool args_has_option(const struct command *command, const char *name);

/* Is it one of --json, -v, -vv, --verbose, -h, --help? Then it is taken. */
bool args_take_common(struct args *args, const char *word);

/* Is `text` one of the words in "a|b|c"? */
bool word_is_in(const char *words, const char *text);

/* Decimal digits and nothing else; the only parser of numbers here. */
bool number_parse(const char *text, uint64_t *out_number);

#endif
