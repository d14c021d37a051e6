/*
 * Reading the command line against a command's table of options.
 *
 * Options may stand anywhere, as --name VALUE or --name=VALUE; "--" ends them.
 * What is found wrong here was wrong before anything was opened, so it is
 * EXIT_USAGE, and the line says which option and what it may be.
 */
#include "args.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hint.h"
#include "library_options.h"
#include "report.h"

bool number_parse(const char *text, uint64_t *out_number)
{
    uint64_t number = 0;

    if (*text == '\0')
        return false;
    for (; *text != '\0'; text++) {
        uint64_t digit = (uint64_t)(*text - '0');

        if (*text < '0' || *text > '9')
            return false;
        if (number > (UINT64_MAX - digit) / 10)
            return false;
        number = number * 10 + digit;
    }
    *out_number = number;
    return true;
}

/* "64KiB": the digits, and what to shift them by. */
static bool size_parse(const char *text, uint64_t *out_size)
{
    static const char *const suffixes[] = {"KiB", "MiB", "GiB"};
    char digits[32];
    size_t length = strspn(text, "0123456789");
    unsigned shift = 0;

    if (length >= sizeof(digits))
        return false;
    for (size_t i = 0; i < 3; i++) {
        if (strcmp(text + length, suffixes[i]) == 0)
            shift = 10 * (unsigned)(i + 1);
    }
    if (shift == 0 && text[length] != '\0')
        return false;
    memcpy(digits, text, length);
    digits[length] = '\0';
    if (!number_parse(digits, out_size) || *out_size > UINT64_MAX >> shift)
        return false;
    *out_size <<= shift;
    return true;
}

static bool in_range(const struct arg_option *option,
                     const char *text,
                     int64_t *out_number)
{
    bool negative = option->type == ARG_SIGNED && *text == '-';
    uint64_t number = 0;
    bool parsed = option->type == ARG_SIZE
                      ? size_parse(text, &number)
                      : number_parse(text + negative, &number);

    if (!parsed || number > INT64_MAX)
        return false;
    *out_number = negative ? -(int64_t)number : (int64_t)number;
    return *out_number >= option->min && *out_number <= option->max;
}

bool word_is_in(const char *words, const char *text)
{
    size_t length = strlen(text);

    while (*words != '\0') {
        size_t word = strcspn(words, "|");

        if (word == length && memcmp(words, text, length) == 0)
            return true;
        words += word;
        words += *words == '|';
    }
    return false;
}

static int set_value(struct args *args, size_t index, const char *text)
{
    const struct arg_option *option = &args->command->options[index];
    struct arg_value *value = &args->values[index];
    struct lks_error error;

    if (value->given && option->type != ARG_FLAG)
        return report_usage(args->command, "--%s is given twice", option->name);
    switch (option->type) {
    case ARG_FLAG:
        break;
    case ARG_COUNT:
    case ARG_SIZE:
    case ARG_SIGNED:
        if (!in_range(option, text, &value->number))
            return report_usage(args->command,
                                "--%s must be a whole number%s of %" PRId64
                                " to %" PRId64 ", not \"%s\"",
                                option->name,
                                option->type == ARG_SIZE
                                    ? " (KiB, MiB, GiB may follow)"
                                    : "",
                                option->min, option->max, text);
        break;
    case ARG_TEXT:
        if (option->max > 0 && strlen(text) > (size_t)option->max)
            return report_usage(args->command,
                                "--%s is %zu bytes long; it may have up to "
                                "%" PRId64,
                                option->name, strlen(text), option->max);
        if (strlen(text) < (size_t)option->min)
            return report_usage(args->command, "--%s is empty", option->name);
        break;
    case ARG_ID:
        if (lks_id_check(option->name, text, &error) != LKS_OK)
            return report_usage(args->command, "%s", error.message);
        break;
    case ARG_CHOICE:
        if (!word_is_in(option->value, text))
            return report_usage(args->command, "--%s must be %s, not \"%s\"",
                                option->name, option->value, text);
        break;
    }
    value->text = text;
    value->given = true;
    return EXIT_DONE;
}

/* `where` is what the user wrote: the flag, or the environment's variable. */
static int set_library_option(struct args *args,
                              const char *where,
                              const char *name,
                              const char *text)
{
    const char *message;
    struct lks_error error;
    size_t length = strlen(name);

    if (lks_options_set(args->options, name, text, &error) == LKS_OK)
        return EXIT_DONE;
    /* The library says "max_live_steps: ..."; here it has another name. */
    message = error.message;
    if (strncmp(message, name, length) == 0 && message[length] == ':')
        message += length + 1 + (message[length + 1] == ' ');
    return report_usage(args->command, "%s: %s", where, message);
}

/* A flag of the library, as "--name". */
static int take_library_flag(struct args *args, size_t index, const char *text)
{
    char flag[LIBRARY_OPTION_NAME_SIZE], name[LIBRARY_OPTION_NAME_SIZE];
    char where[LIBRARY_OPTION_NAME_SIZE + 2];

    library_option_flag(index, flag);
    library_option_name(index, name);
    snprintf(where, sizeof(where), "--%s", flag);
    if (args->library_given[index])
        return report_usage(args->command, "%s is given twice", where);
    args->library_given[index] = true;
    args->library_texts[index] = text;
    return set_library_option(args, where, name, text);
}

/* What no flag says, the environment may: it is looked at here, before anything
 * is opened. An empty variable counts as none. */
static int take_environment(struct args *args)
{
    char name[LIBRARY_OPTION_NAME_SIZE];
    char variable[LIBRARY_OPTION_VARIABLE_SIZE];
    int code = EXIT_DONE;

    for (size_t i = 0; code == EXIT_DONE && library_option_name(i, name); i++) {
        const char *text;

        library_option_variable(name, variable);
        text = getenv(variable);
        if (text == NULL || *text == '\0' || args->library_given[i])
            continue;
        args->library_texts[i] = text;
        code = set_library_option(args, variable, name, text);
    }
    return code;
}

static int unknown_option(const struct args *args, const char *name)
{
    const struct command *command = args->command;
    char flag[LIBRARY_OPTION_NAME_SIZE];
    struct hint hint;

    hint_start(&hint, name);
    for (size_t i = 0; i < command->option_count; i++)
        hint_consider(&hint, command->options[i].name);
    for (size_t i = 0; command->opens && library_option_flag(i, flag); i++)
        hint_consider(&hint, flag);
    hint_consider(&hint, command->reports ? "json" : "help");
    hint_consider(&hint, "help");
    hint_consider(&hint, "verbose");
    if (hint.best[0] != '\0')
        return report_usage(command,
                            "there is no option --%s (did you mean --%s?)",
                            name, hint.best);
    return report_usage(command, "there is no option --%s", name);
}

static bool find_option(const struct command *command,
                        const char *name,
                        size_t *out_index)
{
    for (size_t i = 0; i < command->option_count; i++) {
        if (strcmp(command->options[i].name, name) == 0) {
            *out_index = i;
            return true;
        }
    }
    return false;
}

bool args_has_option(const struct command *command, const char *name)
{
    size_t index;

    return find_option(command, name, &index);
}

static bool is_common(const char *name)
{
    return strcmp(name, "json") == 0 || strcmp(name, "help") == 0 ||
           strcmp(name, "verbose") == 0;
}

/* `word` is "--name" or "--name=value"; takes its value from `next`. */
static int take_long(struct args *args,
                     const char *word,
                     const char *next,
                     bool *out_took_next)
{
    const char *equals = strchr(word, '=');
    size_t length = equals ? (size_t)(equals - word) : strlen(word);
    char name[LIBRARY_OPTION_NAME_SIZE];
    size_t index = 0, library = 0;
    bool own;

    if (length - 2 >= sizeof(name))
        return report_usage(args->command, "there is no option %s", word);
    memcpy(name, word + 2, length - 2);
    name[length - 2] = '\0';

    if (equals && is_common(name))
        return report_usage(args->command, "--%s takes no value", name);
    own = find_option(args->command, name, &index);
    if (own && args->command->options[index].type == ARG_FLAG) {
        if (equals)
            return report_usage(args->command, "--%s takes no value", name);
        return set_value(args, index, "");
    }
    if (!own && !(args->command->opens && library_option_find(name, &library)))
        return unknown_option(args, name);

    *out_took_next = equals == NULL;
    if (equals == NULL && next == NULL)
        return report_usage(args->command, "--%s needs a value", name);
    if (own)
        return set_value(args, index, equals ? equals + 1 : next);
    return take_library_flag(args, library, equals ? equals + 1 : next);
}

/* `word` is "-o" or "-oVALUE". */
static int take_short(struct args *args,
                      const char *word,
                      const char *next,
                      bool *out_took_next)
{
    const struct command *command = args->command;

    for (size_t i = 0; i < command->option_count; i++) {
        if (command->options[i].letter != word[1])
            continue;
        if (word[2] != '\0')
            return set_value(args, i, word + 2);
        if (next == NULL)
            return report_usage(command, "-%c needs a value", word[1]);
        *out_took_next = true;
        return set_value(args, i, next);
    }
    return report_usage(command, "there is no option %s", word);
}

bool args_take_common(struct args *args, const char *word)
{
    if (strcmp(word, "--json") == 0)
        args->json = true;
    else if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        args->help = true;
    else if (strcmp(word, "-v") == 0 || strcmp(word, "--verbose") == 0)
        args->verbosity++;
    else if (strcmp(word, "-vv") == 0)
        args->verbosity += 2;
    else
        return false;
    return true;
}

static int take_words(struct args *args, char **words, size_t count)
{
    bool options_end = false;

    for (size_t i = 0; i < count; i++) {
        char *word = words[i];
        const char *next = i + 1 < count ? words[i + 1] : NULL;
        bool took_next = false;
        int code = EXIT_DONE;

        if (options_end || word[0] != '-' || word[1] == '\0')
            args->operands[args->operand_count++] = word;
        else if (strcmp(word, "--") == 0)
            options_end = true;
        else if (args_take_common(args, word))
            continue;
        else if (word[1] == '-')
            code = take_long(args, word, next, &took_next);
        else
            code = take_short(args, word, next, &took_next);
        if (code != EXIT_DONE)
            return code;
        i += took_next;
    }
    return EXIT_DONE;
}

/* What the operands' names in the help say of them. */
static int check_operands(const struct args *args)
{
    const char *name = args->command->operands;
    struct lks_error error;

    for (size_t i = 0; i < args->operand_count; i++) {
        const char *text = args->operands[i];
        size_t length = strcspn(name, " ");
        enum lks_status status = LKS_OK;

        if (length >= 3 && memcmp(name + length - 3, "URL", 3) == 0)
            status = lks_url_check(text, &error);
        else if (length == 4 && memcmp(name, "NAME", 4) == 0)
            status = lks_id_check("pin", text, &error);
        if (status != LKS_OK)
            return report_usage(args->command, "%s", error.message);
        name += length;
        name += *name == ' ';
    }
    return EXIT_DONE;
}

/* What is missing or too much, once all words are read. */
static int check_whole(const struct args *args)
{
    const struct command *command = args->command;

    if (args->json && !command->reports)
        return report_usage(command, "it has no --json");
    for (size_t i = 0; i < command->option_count; i++) {
        const struct arg_option *option = &command->options[i];

        if (option->required && !args->values[i].given)
            return report_usage(command, "--%s %s is missing", option->name,
                                option->value);
    }
    if (args->operand_count < command->operands_min)
        return report_usage(command, "it needs %s", command->operands);
    if (args->operand_count > command->operands_max)
        return report_usage(command, "\"%s\" is too much; it takes %s",
                            args->operands[command->operands_max],
                            command->operands);
    return check_operands(args);
}

static void set_presets(struct args *args)
{
    for (size_t i = 0; i < args->command->option_count; i++) {
        const struct arg_option *option = &args->command->options[i];

        if (option->preset != NULL) {
            set_value(args, i, option->preset);
            args->values[i].given = false;
        }
    }
}

int args_parse(struct args *args,
               const struct command *command,
               char **words,
               size_t word_count)
{
    struct lks_error error;
    int code;

    args->command = command;
    args->operand_count = 0;
    args->operands = calloc(word_count + 1, sizeof(*args->operands));
    args->values = calloc(command->option_count + 1, sizeof(*args->values));
    args->options = NULL;
    if (args->operands == NULL || args->values == NULL)
        return report_failure(args, "out of memory");
    if (lks_options_new(&args->options, &error) != LKS_OK)
        return report_error(args, &error);

    set_presets(args);
    code = take_words(args, words, word_count);
    if (code == EXIT_DONE && !args->help)
        code = check_whole(args);
    if (code == EXIT_DONE && !args->help && command->opens)
        code = take_environment(args);
    return code;
}

void args_done(struct args *args)
{
    lks_options_free(args->options);
    free(args->values);
    free(args->operands);
}

const char *args_library_text(const struct args *args, const char *flag)
{
    size_t index = 0;

    if (!library_option_find(flag, &index) ||
        args->library_texts[index] == NULL)
        return "";
    return args->library_texts[index];
}

bool args_library_given(const struct args *args, const char *flag)
{
    size_t index = 0;

    return library_option_find(flag, &index) && args->library_given[index];
}

static const struct arg_value *value_of(const struct args *args,
                                        const char *name)
{
    size_t index = 0;
    bool found = find_option(args->command, name, &index);

    assert(found);
    (void)found;
    return &args->values[index];
}

bool args_given(const struct args *args, const char *name)
{
    return value_of(args, name)->given;
}

const char *args_text(const struct args *args, const char *name)
{
    return value_of(args, name)->text;
}

int64_t args_signed(const struct args *args, const char *name)
{
    return value_of(args, name)->number;
}

uint64_t args_number(const struct args *args, const char *name)
{
    int64_t number = value_of(args, name)->number;

    assert(number >= 0);
    return (uint64_t)number;
}
