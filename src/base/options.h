/*
 * The one table of options: reader, name, type, range, default, explanation.
 *
 * Adding an option is one line in LKS_OPTION_TABLE. Flags of the CLI with their
 * help, keywords of Python and the environment's names come from it.
 */
#ifndef LKS_BASE_OPTIONS_H
#define LKS_BASE_OPTIONS_H

#include <stdbool.h>

#include "base/error.h"

enum lks_option_type {
    LKS_OPTION_COUNT,  /* a whole number in [min, max] */
    LKS_OPTION_SIZE,   /* the same in bytes; takes KiB, MiB, GiB */
    LKS_OPTION_CHOICE, /* one of the words in `choices`, "a|b|c" */
    LKS_OPTION_TEXT,   /* anything of up to `max` bytes */
};

/* id, reader, name, type, min, max, default, choices, text. The CLI's flags
 * have a dash for each underscore. Where 0 means "no limit", the text says so.
 * The reader is what looks at it: "create" (of a stream), "producer",
 * "consumer", "run" (a consumer, or who writes a watermark for one), "change"
 * (all that change a stream), "store" (all), or "s3". */
#define LKS_OPTION_TABLE(X)                                                    \
    X(PRODUCERS, "create", "producers", COUNT, 1, 4096, "1", NULL,             \
      "finished producers that end the stream")                                \
    X(MAX_LIVE_STEPS, "create", "max_live_steps", COUNT, 0, 1000000000000,     \
      "0", NULL, "producers wait while so many steps are live; 0: no limit")   \
    X(MAX_LIVE_BYTES, "create", "max_live_bytes", SIZE, 0, 1125899906842624,   \
      "0", NULL, "producers wait while so many bytes are live; 0: no limit")   \
    X(DURABILITY, "store", "durability", CHOICE, 0, 0, "full", "full|none",    \
      "file stores: full syncs each object and its folder, none does not")     \
    X(PRODUCER_BYTES, "producer", "producer_bytes", SIZE, 65536,               \
      1099511627776, "1GiB", NULL,                                             \
      "bytes of TGBs a producer may hold until they are uploaded")             \
    X(UPLOADS, "producer", "uploads", COUNT, 1, 64, "4", NULL,                 \
      "uploads of a producer at the same time")                                \
    X(CODEC, "producer", "codec", CHOICE, 0, 0, "none", "none|lz4|zstd",       \
      "compression of slices")                                                 \
    X(CODEC_LEVEL, "producer", "codec_level", COUNT, 1, 19, "3", NULL,         \
      "effort of zstd")                                                        \
    X(COMMIT_GAP_MS, "producer", "commit_gap_ms", COUNT, 0, 600000, "50",      \
      NULL,                                                                    \
      "pacing fixed: mean pause between two commits; aimd, incr: its start")   \
    X(PACING, "producer", "pacing", CHOICE, 0, 0, "turns",                     \
      "turns|dac|fixed|aimd|incr",                                             \
      "how producers share the commits: in turns, or each by its own pauses")  \
    X(COMMIT_PERCENT, "producer", "commit_percent", COUNT, 1, 90, "5", NULL,   \
      "turns, dac: share of its time that a producer may spend on commits")    \
    X(LOST_PERCENT, "producer", "lost_percent", COUNT, 1, 90, "4", NULL,       \
      "dac: share of its commits that may be lost to others and tried again")  \
    X(FRESHNESS_MS, "producer", "freshness_ms", COUNT, 1, 86400000, "60000",   \
      NULL, "dac: no longer pause than this, as far as the others allow")      \
    X(FLUSH_TIMEOUT_MS, "change", "flush_timeout_ms", COUNT, 1, 86400000,      \
      "300000", NULL, "how long open, flush and finish wait for their commit") \
    X(OUTAGE_TIMEOUT_MS, "producer", "outage_timeout_ms", COUNT, 1, 86400000,  \
      "30000", NULL,                                                           \
      "how long a producer works against a store that fails it")               \
    X(PREFETCH_BYTES, "consumer", "prefetch_bytes", SIZE, 65536,               \
      1099511627776, "256MiB", NULL,                                           \
      "bytes a consumer may hold before they are handed out")                  \
    X(FETCHES, "consumer", "fetches", COUNT, 1, 64, "4", NULL,                 \
      "reads of a consumer at a time; of files no more than processors")       \
    X(STARVE_TIMEOUT_MS, "consumer", "starve_timeout_ms", COUNT, 1, 86400000,  \
      "300000", NULL, "how long a consumer waits for its next step")           \
    X(POLL_MS, "consumer", "poll_ms", COUNT, 1, 60000, "20", NULL,             \
      "shortest pause between two looks of a waiting consumer")                \
    X(GROUP, "consumer", "group", TEXT, 0, 64, "", NULL,                       \
      "the training job that a consumer reads for; empty: retains nothing")    \
    X(RUN, "run", "run", TEXT, 0, 85, "", NULL,                                \
      "this start of the job, ID.ATTEMPT; empty: by torchelastic or Slurm")    \
    X(WATERMARK, "consumer", "watermark", CHOICE, 0, 0, "rank", "rank|all",    \
      "whom a checkpoint counts for: its own rank, or all of the run")         \
    X(RECLAIM, "consumer", "reclaim", CHOICE, 0, 0, "no", "no|yes",            \
      "whether rank 0 reclaims whenever it has checkpointed")                  \
    X(ENDPOINT, "s3", "endpoint", TEXT, 0, 400, "", NULL,                      \
      "S3: the server's URL; empty: by AWS_ENDPOINT_URL_S3, or Amazon's")      \
    X(REGION, "s3", "region", TEXT, 0, 63, "", NULL,                           \
      "S3: the region; empty: by AWS_REGION, or us-east-1")                    \
    X(S3_ADDRESSING, "s3", "s3_addressing", CHOICE, 0, 0, "auto",              \
      "auto|path|virtual",                                                     \
      "S3: the bucket's place in a URL; auto: in the host at Amazon's")        \
    X(S3_CREDENTIALS, "s3", "s3_credentials", CHOICE, 0, 0, "chain",           \
      "chain|none", "S3: none reads a public bucket without signing")          \
    X(S3_CHECKSUM, "s3", "s3_checksum", CHOICE, 0, 0, "crc32c", "crc32c|none", \
      "S3: whether writes carry a checksum for the server to check")           \
    X(CA_BUNDLE, "s3", "ca_bundle", TEXT, 0, 1023, "", NULL,                   \
      "S3: a file of certificates to trust; empty: the system's")              \
    X(CONNECT_TIMEOUT_MS, "s3", "connect_timeout_ms", COUNT, 1, 600000,        \
      "5000", NULL, "S3: how long a connection may take")                      \
    X(FIRST_BYTE_TIMEOUT_MS, "s3", "first_byte_timeout_ms", COUNT, 1, 3600000, \
      "10000", NULL, "S3: how long an answer may take to begin")               \
    X(STALL_TIMEOUT_MS, "s3", "stall_timeout_ms", COUNT, 1000, 3600000,        \
      "20000", NULL, "S3: how long less than 1 KiB/s may flow")                \
    X(REQUEST_TIMEOUT_MS, "s3", "request_timeout_ms", COUNT, 1, 86400000,      \
      "600000", NULL, "S3: how long one request may take in all")              \
    X(RETRY_TIMEOUT_MS, "s3", "retry_timeout_ms", COUNT, 0, 86400000, "60000", \
      NULL, "S3: how long a read is tried again")                              \
    X(MULTIPART_BYTES, "s3", "multipart_bytes", SIZE, 5242880, 5368709120,     \
      "64MiB", NULL, "S3: larger objects go up in parts")                      \
    X(PART_BYTES, "s3", "part_bytes", SIZE, 5242880, 5368709120, "16MiB",      \
      NULL, "S3: the size of a part, and of the pieces of a large read")       \
    X(PART_TRANSFERS, "s3", "part_transfers", COUNT, 1, 64, "4", NULL,         \
      "S3: parts of one object under way at the same time")

#define LKS_OPTION_ENUM(id, ...) LKS_OPTION_##id,
enum lks_option { LKS_OPTION_TABLE(LKS_OPTION_ENUM) LKS_OPTION_NUMBER };
#undef LKS_OPTION_ENUM

/* The value in force: set, else from the environment, else the default. NULL
 * options have nothing set. An unusable environment value was refused by
 * lks_options_check(). Choices are counted from 0. */
uint64_t lks_options_number(const struct lks_options *options,
                            enum lks_option option);
const char *lks_options_text(const struct lks_options *options,
                             enum lks_option option);

/* Refuses environment values that are out of range, naming the variable. Every
 * public open calls it first. */
enum lks_status lks_options_check(const struct lks_options *options,
                                  struct lks_error *error);

/* "64KiB", "1GiB", "4096": a size in bytes. */
bool lks_parse_size(const char *text, uint64_t *out_size);

#endif
