/*
 * The test vectors of docs/format.md, in hex. They were checked by a second
 * implementation; a change here is a change of the format.
 */
#ifndef LKS_TESTS_SUPPORT_FORMAT_VECTORS_H
#define LKS_TESTS_SUPPORT_FORMAT_VECTORS_H

/* A mesh of 2 x 1, with a limit of 1,000 live steps. */
#define VECTOR_DESCRIPTOR                                                      \
    "{\"format\":1,\"stream\":\"000102030405060708090a0b0c0d0e0f\","           \
    "\"dp\":2,\"cp\":1,\"producers\":1,\"max_live_steps\":1000,"               \
    "\"max_live_bytes\":0,\"first_step\":0,\"created_ms\":1767225600000,"      \
    "\"required\":[],\"probe\":{\"create_race\":\"ok\"},"                      \
    "\"crc32c\":\"fe9f2d76\"}\n"

/* Slice 1, "hello", of seq 0. */
#define VECTOR_FRAME_SIZE 128
static const char vector_frame[] =
    "4c4b53460000000005000000000000000500000000000000010000004cbb719a"
    "00000000000000000000000000000000000000000000000000000000de1128bb"
    "68656c6c6f000000000000000000000000000000000000000000000000000000"
    "0000000000000000000000000000000000000000000000000000000000000000";

/* Of the TGB of "hi" and "hello", which has 365 bytes. */
#define VECTOR_FOOTER_SIZE 109
#define VECTOR_FOOTER_CRC 0x1f940e6f
#define VECTOR_TGB_SIZE 365
static const char vector_footer_message[] =
    "1210000102030405060708090a0b0c0d0e0f180220012a06707265702d303001"
    "3a10f0e0d0c0b0a0908070605040302010005212736861726420332c20627974"
    "6520343039365a027b7d688001";
static const char vector_footer_trailer[] =
    "4d000000c5a6a4fc6d01000000000000010000004c4b53544742460098feadb2";

/* Version 2, in which that TGB is step 0. */
#define VECTOR_MANIFEST_SIZE 178
static const char vector_manifest_header[] =
    "4c4b534d414e4900010000002f000000ef6c2837430000004ff1cc3200010203"
    "0405060708090a0b0c0d0e0f020000000000000000000000000000007d185d53";
static const char vector_manifest_head[] =
    "100120ed02420308e807620f0a06707265702d3010011dc0d0e0f06a1218ed02"
    "200228ed02356f0e941f386d488001";
static const char vector_manifest_control[] =
    "0801123f0a06707265702d3010011a10f0e0d0c0b0a090807060504030201000"
    "22066e6f64652d3128922130013a12736861726420332c206279746520343039"
    "366002";

#endif
