/*
 * lakestream: the table of commands.
 *
 * The command line sees nothing but include/lakestream.h, so whatever it can
 * do, another program can do as well. Exit codes: 0 done; 1 tried and failed,
 * with one line on stderr; 2 the command line alone shows that it cannot work;
 * 130 or 143 after a signal.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "hint.h"
#include "interrupt.h"
#include "library_options.h"
#include "report.h"

#define HELP_COLUMN 30
#define AREAS_SIZE 128u

static const struct command *const commands[] = {
    &command_init,          &command_probe,        &command_pack,
    &command_put,           &command_get,          &command_show,
    &command_consume,       &command_finish,       &command_seal,
    &command_log,           &command_info,         &command_verify,
    &command_watermark,     &command_limit,        &command_pin,
    &command_unpin,         &command_reclaim,      &command_evict,
    &command_fork,          &command_drop,         &command_bench_ingest,
    &command_bench_consume, &command_bench_commit, &command_bench_reclaim,
};

static void print_commands(FILE *file)
{
    fputs("usage: lakestream COMMAND [options] URL ...\n\n", file);
    for (size_t i = 0; i < COUNT_OF(commands); i++)
        fprintf(file, "  %-14s %s\n", commands[i]->name, commands[i]->text);
    fputs("\nA URL is s3://BUCKET/PREFIX, file:///folder, or a plain path.\n"
          "lakestream COMMAND --help tells its options, lakestream help "
          "options those of\nthe library; --version the version.\n",
          file);
}

static void print_option(const struct arg_option *option)
{
    char letter[8] = "";
    int length;

    if (option->letter != 0)
        snprintf(letter, sizeof(letter), "-%c, ", option->letter);
    length =
        printf("  %s--%s%s%s", letter, option->name, option->value ? " " : "",
               option->value ? option->value : "");
    if (length > HELP_COLUMN)
        length = printf("\n") - 1;
    printf("%*s %s", HELP_COLUMN - length, "", option->text);
    if (option->preset != NULL && option->preset[0] != '\0')
        printf(" (default %s)", option->preset);
    if (option->required)
        printf(" (required)");
    putchar('\n');
}

static void print_help(const struct command *command)
{
    printf("usage: lakestream %s [options] %s\n\n%s.\n", command->name,
           command->operands, command->text);
    if (command->more != NULL)
        printf("\n%s", command->more);
    if (command->option_count > 0)
        puts("\nOptions:");
    for (size_t i = 0; i < command->option_count; i++)
        print_option(&command->options[i]);

    puts("\nCommon options:");
    if (command->reports)
        printf("%-*s print JSON\n", HELP_COLUMN, "  --json");
    printf("%-*s tell what is done, or all of it\n", HELP_COLUMN, "  -v, -vv");
    printf("%-*s print this\n", HELP_COLUMN, "  -h, --help");
    if (command->opens) {
        puts("\nOptions of the library (also from the environment, as "
             "LAKESTREAM_NAME):");
        library_options_help(stdout, command);
        puts("\nOf S3, and of all commands: lakestream help options");
    }
}

static void print_library_options(void)
{
    puts("Options of the library, with every command that opens a stream; also "
         "from the\nenvironment, as LAKESTREAM_NAME:");
    library_options_help(stdout, NULL);
}

/* Log lines go to stderr, whole. What waits at a limit, or for a store that is
 * away, is always told. */
static void print_log(const char *area, const char *line, void *arg)
{
    (void)arg;
    fprintf(stderr, "lakestream: [%s] %s\n", area, line);
}

static void start_log(int verbosity)
{
    const char *more = getenv("LKS_TRACE");
    char areas[AREAS_SIZE];

    if (verbosity == 1)
        more = "commit,producer,consumer,reclaim";
    else if (verbosity > 1)
        more = "all";
    snprintf(areas, sizeof(areas), "limit,outage,%s", more != NULL ? more : "");
    lks_log_set(print_log, NULL, areas);
}

/* Is `word` the name of a command, or the first word of some? */
static bool starts_command(const struct command *command, const char *word)
{
    size_t length = strlen(word);

    return strncmp(command->name, word, length) == 0 &&
           (command->name[length] == ' ' || command->name[length] == '\0');
}

/* `whole` if more words cannot make a command of it. */
static void report_unknown(const char *name, bool whole)
{
    struct hint hint;

    hint_start(&hint, name);
    for (size_t i = 0; i < COUNT_OF(commands); i++)
        hint_consider(&hint, commands[i]->name);
    if (name[0] == '-')
        report_usage(NULL, "\"%s\" must follow the command", name);
    else if (!whole)
        report_usage(NULL, "\"%s\" is half a command", name);
    else if (hint.best[0] != '\0')
        report_usage(NULL, "there is no command \"%s\" (did you mean \"%s\"?)",
                     name, hint.best);
    else
        report_usage(NULL, "there is no command \"%s\"", name);
}

/*
 * The command's words may have common options before and between them, but no
 * other, as nobody knows yet which of those take a value. Moves `*at` past
 * them. NULL if there is no such command.
 */
static const struct command *find_command(struct args *args,
                                          char **words,
                                          size_t count,
                                          size_t *at)
{
    char name[64] = "";

    for (; *at < count; (*at)++) {
        const char *word = words[*at];
        size_t length = strlen(name);
        bool begun = false;

        if (args_take_common(args, word))
            continue;
        snprintf(name + length, sizeof(name) - length, "%s%s",
                 length > 0 ? " " : "", word);
        for (size_t i = 0; i < COUNT_OF(commands); i++) {
            if (strcmp(commands[i]->name, name) == 0) {
                (*at)++;
                return commands[i];
            }
            begun |= starts_command(commands[i], name);
        }
        if (!begun)
            break;
    }
    if (name[0] != '\0')
        report_unknown(name, *at < count);
    else if (!args->help)
        print_commands(stderr);
    return NULL;
}

static int run(struct args *args, int argc, char **argv)
{
    const struct command *command;
    size_t at = 1, count = (size_t)argc;
    int code;

    if (argc > 1 && strcmp(argv[1], "--version") == 0) {
        printf("lakestream %s\n", lks_version());
        return EXIT_DONE;
    }
    if (argc == 3 && strcmp(argv[1], "help") == 0 &&
        strcmp(argv[2], "options") == 0) {
        print_library_options();
        return EXIT_DONE;
    }
    if (argc > 1 && strcmp(argv[1], "help") == 0) {
        args->help = true;
        at = 2;
    }
    command = find_command(args, argv, count, &at);
    if (command == NULL && args->help && at == count) {
        print_commands(stdout);
        return EXIT_DONE;
    }
    if (command == NULL)
        return EXIT_USAGE;

    code = args_parse(args, command, argv + at, count - at);
    if (code == EXIT_DONE && args->help) {
        print_help(command);
    } else if (code == EXIT_DONE) {
        start_log(args->verbosity);
        code = command->run(args);
    }
    return code;
}

int main(int argc, char **argv)
{
    struct args args = {0};
    int code;

    interrupt_start();
    code = run(&args, argc, argv);
    code = report_flush(&args, code);
    args_done(&args);
    interrupt_stop();
    return code;
}
