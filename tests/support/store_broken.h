/*
 * A store that breaks one promise of store.h at a time, around one in memory
 * that keeps them all: for tests of what is supposed to notice.
 */
#ifndef LKS_TESTS_SUPPORT_STORE_BROKEN_H
#define LKS_TESTS_SUPPORT_STORE_BROKEN_H

#include "store/store.h"

enum promise {
    PROMISE_NONE,
    PROMISE_CREATE_WORKS,         /* every name is said to exist */
    PROMISE_CONDITION,            /* create overwrites */
    PROMISE_REFUSED_IS_UNTOUCHED, /* create says EXISTS and overwrites */
    PROMISE_ONE_WINNER,           /* looks first, writes a moment later */
    PROMISE_SOMEBODY_WINS,        /* the winner is told that he lost */
    PROMISE_WRITES_ARE_SEEN,      /* a put shows its effect with the next */
    PROMISE_TAGS,                 /* all objects have the same tag */
    PROMISE_RANGES_END,           /* a range past the end is refused */
    PROMISE_RANGES,               /* offsets are ignored */
    PROMISE_NOT_FOUND,            /* a missing object is denied */
    PROMISE_MISSING,              /* a missing object is an empty one */
    PROMISE_REMOVE,               /* nothing is removed */
    PROMISE_LISTED_AT_ONCE,       /* the newest object is not listed */
    PROMISE_LIST_ORDER,           /* upper and lower case sort alike */
    PROMISE_LIST_PREFIX,          /* a prefix ends with a segment */
    PROMISE_LIST_AFTER,           /* always from the beginning */
    PROMISE_LIST_MAX,             /* a page has a key too few */
    PROMISE_CASE,                 /* upper and lower case are one name */
    PROMISE_DATES,                /* replies have none */
    PROMISE_CLOCK,                /* dates go back */
    PROMISE_AGES,                 /* objects are dated an hour early */
    PROMISE_COUNT,
};

enum lks_status store_broken_open(enum promise broken,
                                  struct lks_store **out_store,
                                  struct lks_error *error);

/* The store in memory beneath. */
struct lks_store *store_broken_inner(struct lks_store *store);

/* From now on all calls fail so, for the reason `text`, which is kept; LKS_OK
 * ends it. */
void store_broken_fail(struct lks_store *store,
                       enum lks_status status,
                       const char *text);

/* The next `count` writes of keys with `part` in them, which is kept, are
 * unsure: every second one, and the last, is done all the same. */
void store_broken_be_unsure(struct lks_store *store,
                            const char *part,
                            uint32_t count);

#endif
