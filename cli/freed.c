/*
 * What was freed, what was left: from the report of a reclaim or a drop.
 */
#include "freed.h"

#include <stdint.h>
#include <stdio.h>

#include "commands.h"
#include "report.h"

json_int_t freed_number(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static const json_t *tally(const json_t *result,
                           const char *part,
                           const char *name)
{
    return json_object_get(json_object_get(result, part), name);
}

void print_freed(const json_t *result, bool would)
{
    static const struct {
        const char *name;
        const char *text;
    } kinds[] = {{"data", "data object"},
                 {"index", "index block"},
                 {"manifests", "manifest"},
                 {"watermarks", "watermark"}},
      left[] = {{"in_flight", "uploaded and not committed yet"},
                {"uploads", "uploads that have begun and not ended"},
                {"young_manifests", "manifests that are too young to remove"},
                {"unknown", "not of the stream, or of no producer that it "
                            "knows"}};
    const json_t *removed = json_object_get(result, "removed");
    json_int_t aborted =
        freed_number(tally(result, "removed", "uploads"), "count");
    const char *such_as =
        json_string_value(tally(result, "left", "unknown_such_as"));
    const char *unseen =
        json_string_value(json_object_get(result, "uploads_unseen"));

    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        const json_t *kind = json_object_get(removed, kinds[i].name);
        json_int_t count = freed_number(kind, "count");

        if (count > 0)
            printf("%s %" JSON_INTEGER_FORMAT " %s%s, %" JSON_INTEGER_FORMAT
                   " bytes\n",
                   would ? "would remove" : "removed", count, kinds[i].text,
                   plural((uint64_t)count), freed_number(kind, "bytes"));
    }
    if (aborted > 0)
        printf("%s %" JSON_INTEGER_FORMAT " unfinished upload%s\n",
               would ? "would abort" : "aborted", aborted,
               plural((uint64_t)aborted));
    for (size_t i = 0; i < COUNT_OF(left); i++) {
        json_int_t count =
            freed_number(tally(result, "left", left[i].name), "count");

        if (count > 0)
            printf("left %" JSON_INTEGER_FORMAT ": %s\n", count, left[i].text);
    }
    if (such_as != NULL)
        printf("such as %s\n", such_as);
    if (unseen != NULL)
        printf("unfinished uploads were not looked for: %s\n", unseen);
    printf("%s %" JSON_INTEGER_FORMAT " object%s, %" JSON_INTEGER_FORMAT
           " bytes in all\n",
           would ? "would remove" : "removed", freed_number(removed, "count"),
           plural((uint64_t)freed_number(removed, "count")),
           freed_number(removed, "bytes"));
}
