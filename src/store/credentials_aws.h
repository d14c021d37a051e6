/*
 * What the machine says about its account: the variables and shared files that
 * every AWS tool reads, looked at once, in the standard order.
 */
#ifndef LKS_STORE_CREDENTIALS_AWS_H
#define LKS_STORE_CREDENTIALS_AWS_H

#include "store/credentials.h"

enum lks_key_source {
    LKS_KEYS_OF_ENVIRONMENT,
    LKS_KEYS_OF_WEB_IDENTITY, /* a token in a file, changed for keys by STS */
    LKS_KEYS_OF_PROFILE,      /* in a shared file, which may be rewritten */
    LKS_KEYS_OF_CONTAINER,    /* an address that the platform gave us */
    LKS_KEYS_OF_INSTANCE,     /* the machine's metadata service, if any */
};

struct lks_aws {
    enum lks_key_source source;
    char profile[128];
    struct lks_keys keys; /* of the environment or a profile */

    char role[512];
    char session[128];
    char token_file[1024];
    char sts_endpoint[512];

    char container_url[1024];
    char container_token[2048];
    char container_token_file[1024];

    char instance_url[512];
    bool instance_disabled;

    char endpoint[512];
    char region[64];
    char ca_bundle[1024];
};

/* Makes no request. LKS_INVALID for settings that contradict themselves, or
 * that name a source which is not known here. */
enum lks_status lks_aws_read(struct lks_aws **out_aws, struct lks_error *error);
void lks_aws_free(struct lks_aws *aws);

/* A variable's value; an empty one counts as not set. */
const char *lks_aws_variable(const char *name);

/* LKS_INVALID, naming `what`, if a byte below 0x20, or 0x7f, is in `text`. */
enum lks_status lks_check_control(const char *what,
                                  const char *text,
                                  struct lks_error *error);

/* The whole small file with a NUL at its end, or NULL. `error` tells why. */
char *lks_file_text(const char *path, struct lks_error *error);

#endif
