/*
 * Reading the shared files as AWS's own tools do: '#' and ';' begin comments, a
 * line that is indented belongs to a setting above and is none itself.
 */
#include "store/credentials_ini.h"

#include <string.h>
#include <strings.h>

#define BLANKS " \t\r"

/* A run of bytes without blanks at its ends. */
struct span {
    const char *data;
    size_t size;
};

static struct span trimmed(const char *data, size_t size)
{
    while (size > 0 && strchr(BLANKS, data[0]) != NULL) {
        data++;
        size--;
    }
    while (size > 0 && strchr(BLANKS, data[size - 1]) != NULL)
        size--;
    return (struct span){data, size};
}

static bool is(struct span span, const char *text)
{
    return strlen(text) == span.size && memcmp(span.data, text, span.size) == 0;
}

/* "[profile  x]" is section "profile x". */
static bool is_section(struct span line, const char *section)
{
    const char *end = memchr(line.data, ']', line.size);
    struct span name;
    size_t word;

    if (end == NULL)
        return false;
    name = trimmed(line.data + 1, (size_t)(end - line.data) - 1);
    if (is(name, section))
        return true;
    if (strncmp(section, "profile ", 8) != 0 || name.size < 8 ||
        strncmp(name.data, "profile", 7) != 0)
        return false;
    word = strspn(name.data + 7, " \t");
    if (word == 0)
        return false;
    return is(trimmed(name.data + 7, name.size - 7), section + 8);
}

static bool is_setting(struct span line, const char *name, struct span *value)
{
    const char *equals = memchr(line.data, '=', line.size);
    struct span left;

    if (equals == NULL)
        return false;
    left = trimmed(line.data, (size_t)(equals - line.data));
    if (left.size != strlen(name) ||
        strncasecmp(left.data, name, left.size) != 0)
        return false;
    *value = trimmed(equals + 1, line.size - (size_t)(equals + 1 - line.data));
    return true;
}

/* `name` NULL: only whether the section is there. */
static bool search(const char *text,
                   const char *section,
                   const char *name,
                   struct span *out_value)
{
    bool inside = false;
    bool found = false;

    while (*text != '\0') {
        size_t size = strcspn(text, "\n");
        bool indented = text[0] == ' ' || text[0] == '\t';
        struct span line = trimmed(text, size);

        text += size;
        text += *text == '\n';
        if (line.size == 0 || line.data[0] == '#' || line.data[0] == ';')
            continue;
        if (line.data[0] == '[') {
            inside = is_section(line, section);
            found |= inside && name == NULL;
        } else if (inside && !indented && name != NULL) {
            found |= is_setting(line, name, out_value);
        }
    }
    return found;
}

enum lks_ini lks_ini_find(const char *text,
                          const char *section,
                          const char *name,
                          char *value,
                          size_t value_size)
{
    struct span found;

    if (!search(text, section, name, &found))
        return LKS_INI_ABSENT;
    if (found.size >= value_size)
        return LKS_INI_TOO_LONG;
    memcpy(value, found.data, found.size);
    value[found.size] = '\0';
    return LKS_INI_FOUND;
}

size_t lks_ini_bad_line(const char *text)
{
    for (size_t number = 1; *text != '\0'; number++) {
        size_t size = strcspn(text, "\n");

        if (text[0] == '[' && memchr(text, ']', size) == NULL)
            return number;
        text += size;
        text += *text == '\n';
    }
    return 0;
}

bool lks_ini_has(const char *text, const char *section)
{
    struct span unused;

    return search(text, section, NULL, &unused);
}
