/* docs/format.md says what the code does: its messages and its vectors. */
#include "support/check.h"
#include "support/format_vectors.h"

#include <stdio.h>

#define TEXT_SIZE_MAX (256u << 10)

/* A file of the tree, by its path from the tests' folder. */
static char *read_text(const char *path)
{
    char *text = malloc(TEXT_SIZE_MAX);
    char name[4096];
    size_t size;
    FILE *file;

    assert_non_null(text);
    snprintf(name, sizeof(name), "%s/%s", LKS_TESTS_DIR, path);
    file = fopen(name, "rb");
    if (file == NULL)
        fail_msg("%s cannot be read", name);
    size = fread(text, 1, TEXT_SIZE_MAX - 1, file);
    assert_true(size < TEXT_SIZE_MAX - 1);
    text[size] = '\0';
    fclose(file);
    return text;
}

/* Long lines are broken in the document. */
static void drop_line_feeds(char *text)
{
    char *end = text;

    for (; *text != '\0'; text++) {
        if (*text != '\n')
            *end++ = *text;
    }
    *end = '\0';
}

static void the_document_has_the_messages_as_they_are(void **state)
{
    char *document = read_text("../docs/format.md");
    char *messages = read_text("../src/format/lakestream.proto");

    (void)state;
    if (strstr(document, messages) == NULL)
        fail_msg("%s", "docs/format.md does not show lakestream.proto as it "
                       "is: copy it in");
    free(document);
    free(messages);
}

static void the_document_has_the_vectors_that_are_tested(void **state)
{
    static const char *const vectors[] = {
        vector_frame,           vector_footer_message, vector_footer_trailer,
        vector_manifest_header, vector_manifest_head,  vector_manifest_control};
    char *document = read_text("../docs/format.md");
    char descriptor[] = VECTOR_DESCRIPTOR;

    (void)state;
    drop_line_feeds(document);
    drop_line_feeds(descriptor);
    assert_non_null(strstr(document, descriptor));
    for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++)
        assert_non_null(strstr(document, vectors[i]));
    free(document);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_document_has_the_messages_as_they_are),
        cmocka_unit_test(the_document_has_the_vectors_that_are_tested),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
