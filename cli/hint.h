/* "Did you mean ...?" */
#ifndef LAKESTREAM_CLI_HINT_H
#define LAKESTREAM_CLI_HINT_H

/* The name that is nearest to a word that is none. */
struct hint {
    const char *word;
    unsigned distance;
    char best[48]; /* empty if none is near */
};

void hint_start(struct hint *hint, const char *word);
void hint_consider(struct hint *hint, const char *name);

#endif
