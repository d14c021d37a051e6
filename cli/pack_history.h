/* What a producer's TGBs say about the files they were packed from. */
#ifndef LAKESTREAM_CLI_PACK_HISTORY_H
#define LAKESTREAM_CLI_PACK_HISTORY_H

#include "token_source.h"

/*
 * Finds the file that is not what it was when `producer` packed it, and names
 * it in the message. LKS_INVALID if it is found, and LKS_NOT_FOUND if the
 * stream does not show it: its steps may be gone. `source` has been read over
 * the files in question.
 */
enum lks_status pack_history_find_changed(struct lks_stream *stream,
                                          const char *producer,
                                          const struct token_source *source,
                                          struct lks_error *error);

#endif
