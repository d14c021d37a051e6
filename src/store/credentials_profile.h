/*
 * The profile of the shared files: one section of each, read together.
 */
#ifndef LKS_STORE_CREDENTIALS_PROFILE_H
#define LKS_STORE_CREDENTIALS_PROFILE_H

#include "store/credentials_aws.h"

/* The two files' texts, "" if there is no such file. */
struct lks_profile {
    char *config;
    char *credentials;
    const char *name;     /* borrowed; the section in credentials */
    char section[160];    /* the one in config */
    const char *too_long; /* a setting that did not fit, or NULL */
};

/* A file that is there and cannot be read is an error. End with
 * lks_profile_done(), also after one. */
enum lks_status lks_profile_read(struct lks_profile *profile,
                                 const char *name,
                                 struct lks_error *error);
void lks_profile_done(struct lks_profile *profile);

/* False when there is none, or it does not fit, which lks_profile_fits()
 * then tells. */
bool lks_profile_find(struct lks_profile *profile,
                      const char *name,
                      char *value,
                      size_t size);
enum lks_status lks_profile_fits(const struct lks_profile *profile,
                                 struct lks_error *error);

/* Fills `aws` if the profile has keys, or a web identity of its own. Half of
 * either is an error, and so is a way to get keys that is not known here. */
enum lks_status lks_profile_keys(struct lks_profile *profile,
                                 struct lks_aws *aws,
                                 bool *out_found,
                                 struct lks_error *error);

#endif
