/*
 * Fuzzes the parsers of object names. Only one spelling of a name counts, so
 * whatever is taken must be written exactly as it was.
 */
#include "format/names.h"
#include "fuzz.h"

static const uint8_t stream[LKS_ID_SIZE] = {0, 1, 2, 3};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size};
    char *text = fuzz_text(&input);
    struct lks_watermark_parts watermark;
    struct lks_data_parts parts;
    char again[LKS_NAME_SIZE];
    uint64_t number;

    if (lks_manifest_name_parse(stream, text, &number)) {
        lks_manifest_name(stream, number, again);
        FUZZ_CHECK(strcmp(text, again) == 0);
    }
    if (lks_index_name_parse(text, &number)) {
        lks_index_name(number, again);
        FUZZ_CHECK(strcmp(text, again) == 0);
    }
    if (lks_data_name_parse(text, &parts)) {
        FUZZ_CHECK(lks_id_is_valid(parts.producer));
        lks_data_name(parts.producer, parts.epoch, parts.owner_tag, parts.seq,
                      again);
        FUZZ_CHECK(strcmp(text, again) == 0);
    }
    if (lks_watermark_name_parse(text, &watermark)) {
        FUZZ_CHECK(lks_id_is_valid(watermark.group));
        FUZZ_CHECK(lks_id_is_valid(watermark.run));
        lks_watermark_name(&watermark, again);
        FUZZ_CHECK(strcmp(text, again) == 0);
    }
    if (lks_id_is_valid(text)) {
        FUZZ_CHECK(strlen(text) <= LKS_PRODUCER_ID_SIZE_MAX);
        lks_data_name(text, UINT64_MAX, UINT32_MAX, UINT64_MAX, again);
        FUZZ_CHECK(lks_data_name_parse(again, &parts));
    }
    free(text);
    return 0;
}
