/*
 * The library's own options as flags: what lks_options_describe() tells,
 * with a dash for each underscore.
 */
#include "library_options.h"

#include <ctype.h>
#include <jansson.h>
#include <string.h>

#include "args.h"

#define HELP_COLUMN 30

/* Row `index` as JSON, to be dropped; NULL past the last. */
static json_t *describe(size_t index)
{
    char *text = NULL;
    json_t *row;

    if (lks_options_describe(index, &text, NULL) != LKS_OK)
        return NULL;
    row = json_loads(text, 0, NULL);
    lks_text_free(text);
    return row;
}

static const char *field(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));

    return text != NULL ? text : "";
}

static void swap_letter(char *text, char from, char to)
{
    for (; *text != '\0'; text++) {
        if (*text == from)
            *text = to;
    }
}

bool library_option_name(size_t index, char out_name[LIBRARY_OPTION_NAME_SIZE])
{
    json_t *row = index < ARGS_LIBRARY_MAX ? describe(index) : NULL;

    if (row == NULL)
        return false;
    snprintf(out_name, LIBRARY_OPTION_NAME_SIZE, "%s", field(row, "name"));
    json_decref(row);
    return true;
}

bool library_option_flag(size_t index, char out_flag[LIBRARY_OPTION_NAME_SIZE])
{
    if (!library_option_name(index, out_flag))
        return false;
    swap_letter(out_flag, '_', '-');
    return true;
}

bool library_option_find(const char *flag, size_t *out_index)
{
    char each[LIBRARY_OPTION_NAME_SIZE];

    for (size_t i = 0; library_option_flag(i, each); i++) {
        if (strcmp(each, flag) == 0) {
            *out_index = i;
            return true;
        }
    }
    return false;
}

void library_option_variable(const char *name,
                             char out_variable[LIBRARY_OPTION_VARIABLE_SIZE])
{
    snprintf(out_variable, LIBRARY_OPTION_VARIABLE_SIZE, "LAKESTREAM_%s", name);
    for (; *out_variable != '\0'; out_variable++)
        *out_variable = (char)toupper((unsigned char)*out_variable);
}

/* A default is text, but a binding may want to see a number: take either. */
static void print_default(FILE *file, const json_t *row)
{
    const json_t *preset = json_object_get(row, "default");

    if (json_is_integer(preset))
        fprintf(file, " (default %" JSON_INTEGER_FORMAT ")",
                json_integer_value(preset));
    else if (json_is_string(preset) && json_string_length(preset) > 0)
        fprintf(file, " (default %s)", json_string_value(preset));
}

/* What the help calls the value of an option. */
static const char *value_name(const json_t *row)
{
    const char *type = field(row, "type");

    if (strcmp(type, "choice") == 0)
        return field(row, "choices");
    if (strcmp(type, "count") == 0)
        return "N";
    return strcmp(type, "size") == 0 ? "SIZE" : "TEXT";
}

/* A command has options of its own besides, and all read the store's. */
static bool concerns(const struct command *command,
                     const json_t *row,
                     const char *flag)
{
    const char *reader = field(row, "reader");

    if (command == NULL)
        return true;
    if (args_has_option(command, flag))
        return false;
    return strcmp(reader, "store") == 0 ||
           (command->reads != NULL && word_is_in(command->reads, reader));
}

void library_options_help(FILE *file, const struct command *command)
{
    char flag[LIBRARY_OPTION_NAME_SIZE];

    for (size_t i = 0; library_option_flag(i, flag); i++) {
        json_t *row = describe(i);
        int length;

        if (!concerns(command, row, flag)) {
            json_decref(row);
            continue;
        }
        length = fprintf(file, "  --%s %s", flag, value_name(row));

        fprintf(file, "%*s %s", HELP_COLUMN - length, "", field(row, "text"));
        print_default(file, row);
        fputc('\n', file);
        json_decref(row);
    }
}
