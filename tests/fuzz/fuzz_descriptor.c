/*
 * Fuzzes descriptors, and the empty manifest that each one makes.
 *
 * Dictionary: json.dict
 */
#include "format/manifest.h"
#include "fuzz.h"

/* What was read can be written, and then reads the same. */
static void round_trip(const struct lks_descriptor *descriptor)
{
    struct lks_descriptor again;
    struct lks_error error;
    struct lks_buf buf;

    lks_buf_init(&buf, 2 * LKS_DESCRIPTOR_SIZE_MAX);
    /* Escaping may make it longer than a descriptor can be. */
    if (lks_descriptor_encode(descriptor, &buf, &error) == LKS_OK) {
        FUZZ_CHECK(lks_descriptor_decode(buf.data, buf.size, &again, &error) ==
                   LKS_OK);
        FUZZ_CHECK(again.dp == descriptor->dp && again.cp == descriptor->cp);
        FUZZ_CHECK(again.first_step == descriptor->first_step);
        FUZZ_CHECK(again.created_ms == descriptor->created_ms);
        lks_descriptor_done(&again);
    }
    lks_buf_done(&buf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size};
    uint8_t flags = fuzz_byte(&input);
    uint8_t *bytes = fuzz_copy(input.at, input.left);
    struct lks_descriptor descriptor;
    struct lks_manifest *genesis = NULL;
    struct lks_error error = {0};
    enum lks_status status;

    if (flags & FUZZ_REPAIR)
        fuzz_repair_json(bytes, input.left);
    status = lks_descriptor_decode(bytes, input.left, &descriptor, &error);
    fuzz_check_answer(status, &error);
    if (status == LKS_OK) {
        FUZZ_CHECK(lks_mesh_check(descriptor.dp, descriptor.cp, NULL) ==
                   LKS_OK);
        FUZZ_CHECK(descriptor.first_step <= LKS_STEP_MAX);
        round_trip(&descriptor);
        FUZZ_CHECK(lks_manifest_genesis(&descriptor, &genesis, &error) ==
                   LKS_OK);
        lks_manifest_free(genesis);
        lks_descriptor_done(&descriptor);
    }
    free(bytes);
    return 0;
}
