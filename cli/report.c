/*
 * What people and programs get to read.
 *
 * A failure is one line on stderr: bytes that would break the line, which file
 * names may hold, are shown as \xNN. A report is a table, or one JSON object.
 */
#include "report.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interrupt.h"

#define LINE_SIZE 2048u
#define CELL_SIZE 48u
#define COLUMNS_MAX 16u

static REPORT_PRINTF(3, 0) void print_line(const char *command,
                                           bool hint,
                                           const char *format,
                                           va_list list)
{
    const char *space = command != NULL ? " " : "";
    const char *name = command != NULL ? command : "";
    char line[LINE_SIZE];

    vsnprintf(line, sizeof(line), format, list);
    flockfile(stderr);
    fprintf(stderr, "lakestream%s%s: ", space, name);
    for (const char *letter = line; *letter != '\0'; letter++) {
        if ((unsigned char)*letter < ' ' || *letter == 0x7f)
            fprintf(stderr, "\\x%02x", (unsigned char)*letter);
        else
            fputc(*letter, stderr);
    }
    if (hint)
        fprintf(stderr, "; see lakestream%s%s --help", space, name);
    fputc('\n', stderr);
    funlockfile(stderr);
}

int report_usage(const struct command *command, const char *format, ...)
{
    const char *name = command != NULL ? command->name : NULL;
    va_list list;

    va_start(list, format);
    print_line(name, true, format, list);
    va_end(list);
    return EXIT_USAGE;
}

int report_failure(const struct args *args, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    print_line(args->command != NULL ? args->command->name : NULL, false,
               format, list);
    va_end(list);
    return EXIT_FAILED;
}

int report_error(const struct args *args, const struct lks_error *error)
{
    if (interrupted()) {
        report_failure(args, "interrupted");
        return interrupt_exit_code();
    }
    return report_failure(args, "%s", error->message);
}

enum lks_status fail(struct lks_error *error,
                     enum lks_status status,
                     const char *format,
                     ...)
{
    va_list list;

    if (error == NULL)
        return status;
    error->status = status;
    va_start(list, format);
    vsnprintf(error->message, sizeof(error->message), format, list);
    va_end(list);
    return status;
}

enum lks_status fail_errno(struct lks_error *error,
                           const char *verb,
                           const char *path)
{
    enum lks_status status = errno == ENOENT ? LKS_NOT_FOUND : LKS_UNAVAILABLE;

    return fail(error, status, "cannot %s %s: %s", verb, path, strerror(errno));
}

int report_json(const struct args *args, json_t *object)
{
    int failed;

    if (object == NULL)
        return report_failure(args, "out of memory");
    failed = json_dumpf(object, stdout, JSON_COMPACT | JSON_REAL_PRECISION(6));
    json_decref(object);
    putchar('\n');
    return failed ? report_failure(args, "cannot write the report") : EXIT_DONE;
}

/* Numbers with spaces between; returns the length it would have. */
static int format_numbers(const json_t *list, char cell[CELL_SIZE])
{
    size_t length = 0, index;
    const json_t *item;

    snprintf(cell, CELL_SIZE, "-");
    json_array_foreach(list, index, item)
    {
        if (length < CELL_SIZE)
            length += (size_t)snprintf(cell + length, CELL_SIZE - length,
                                       "%s%" JSON_INTEGER_FORMAT,
                                       index > 0 ? " " : "",
                                       json_integer_value(item));
    }
    return (int)length;
}

/* A scalar as a cell of a table, or a list of numbers; cut if it is long. */
static void format_cell(const json_t *value, char cell[CELL_SIZE])
{
    int length = 0;

    if (json_is_array(value))
        length = format_numbers(value, cell);
    else if (json_is_string(value))
        length = snprintf(cell, CELL_SIZE, "%s", json_string_value(value));
    else if (json_is_integer(value))
        snprintf(cell, CELL_SIZE, "%" JSON_INTEGER_FORMAT,
                 json_integer_value(value));
    else if (json_is_real(value))
        snprintf(cell, CELL_SIZE, "%.2f", json_real_value(value));
    else if (json_is_boolean(value))
        snprintf(cell, CELL_SIZE, "%s", json_is_true(value) ? "yes" : "no");
    else
        snprintf(cell, CELL_SIZE, "-");
    if (length >= (int)CELL_SIZE)
        memcpy(cell + CELL_SIZE - 4, "...", 4);
}

/* A list of objects, with the first one's keys as columns. */
static void print_rows(const char *title, json_t *rows)
{
    size_t widths[COLUMNS_MAX] = {0};
    size_t index, column;
    char cell[CELL_SIZE];
    const char *key;
    json_t *row, *first = json_array_get(rows, 0);
    void *at;

    for (at = json_object_iter(first), column = 0; at && column < COLUMNS_MAX;
         at = json_object_iter_next(first, at), column++) {
        key = json_object_iter_key(at);
        widths[column] = strlen(key);
        json_array_foreach(rows, index, row)
        {
            format_cell(json_object_get(row, key), cell);
            if (strlen(cell) > widths[column])
                widths[column] = strlen(cell);
        }
    }

    printf("%s\n", title);
    for (index = 0; index <= json_array_size(rows); index++) {
        row = index > 0 ? json_array_get(rows, index - 1) : NULL;
        for (at = json_object_iter(first), column = 0;
             at && column < COLUMNS_MAX;
             at = json_object_iter_next(first, at), column++) {
            key = json_object_iter_key(at);
            if (row != NULL)
                format_cell(json_object_get(row, key), cell);
            else
                snprintf(cell, sizeof(cell), "%s", key);
            printf("  %-*s", (int)widths[column], cell);
        }
        putchar('\n');
    }
}

static void print_list(const char *title, json_t *list)
{
    char cell[CELL_SIZE];
    json_t *item;
    size_t index;

    if (json_is_object(json_array_get(list, 0))) {
        print_rows(title, list);
        return;
    }
    printf("%-16s %s\n", title, json_array_size(list) > 0 ? "" : "none");
    json_array_foreach(list, index, item)
    {
        format_cell(item, cell);
        printf("  %s\n", cell);
    }
}

static void print_object(const char *prefix, json_t *object)
{
    char title[LINE_SIZE], cell[CELL_SIZE];
    const char *key;
    json_t *value;

    json_object_foreach(object, key, value)
    {
        snprintf(title, sizeof(title), "%s%s%s", prefix, *prefix ? "." : "",
                 key);
        if (json_is_object(value)) {
            print_object(title, value);
        } else if (json_is_array(value)) {
            print_list(title, value);
        } else if (json_is_string(value)) {
            printf("%-16s %s\n", title, json_string_value(value));
        } else {
            format_cell(value, cell);
            printf("%-16s %s\n", title, cell);
        }
    }
}

int report_table(const struct args *args, json_t *object)
{
    if (object == NULL)
        return report_failure(args, "out of memory");
    print_object("", object);
    json_decref(object);
    return EXIT_DONE;
}

json_t *report_parse(char *text)
{
    json_t *object = json_loads(text, 0, NULL);

    lks_text_free(text);
    return object;
}

json_t *report_name(const char *name)
{
    json_t *text = json_string(name);
    char *shown;
    size_t size = 0;

    if (text != NULL)
        return text;
    shown = calloc(strlen(name) + 1, 4);
    if (shown == NULL)
        return NULL;
    for (; *name != '\0'; name++) {
        unsigned char byte = (unsigned char)*name;

        if (byte < 0x80)
            shown[size++] = *name;
        else
            size += (size_t)snprintf(shown + size, 5, "\\x%02x", byte);
    }
    text = json_string(shown);
    free(shown);
    return text;
}

const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

int report_flush(const struct args *args, int code)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    report_failure(args, "cannot write to stdout: %s", strerror(errno));
    return code == EXIT_DONE ? EXIT_FAILED : code;
}
