/*
 * The commands: one row each, in the cmd_*.c file of that name. To add one,
 * write its file, and name it here and in main.c.
 */
#ifndef LAKESTREAM_CLI_COMMANDS_H
#define LAKESTREAM_CLI_COMMANDS_H

#include "args.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

extern const struct command command_init;
extern const struct command command_probe;
extern const struct command command_pack;
extern const struct command command_put;
extern const struct command command_get;
extern const struct command command_show;
extern const struct command command_consume;
extern const struct command command_finish;
extern const struct command command_seal;
extern const struct command command_log;
extern const struct command command_info;
extern const struct command command_verify;
extern const struct command command_watermark;
extern const struct command command_limit;
extern const struct command command_pin;
extern const struct command command_unpin;
extern const struct command command_reclaim;
extern const struct command command_evict;
extern const struct command command_fork;
extern const struct command command_drop;
extern const struct command command_bench_ingest;
extern const struct command command_bench_consume;
extern const struct command command_bench_commit;
extern const struct command command_bench_reclaim;

#endif
