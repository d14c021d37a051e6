/*
 * Who we are to the store: keys from the first source that is configured, kept
 * fresh, fetched once for all stores of a process.
 */
#ifndef LKS_STORE_CREDENTIALS_H
#define LKS_STORE_CREDENTIALS_H

#include <stdbool.h>

#include "base/env.h"

#define LKS_ACCESS_KEY_SIZE 160u
#define LKS_SECRET_KEY_SIZE 160u
#define LKS_TOKEN_SIZE 8192u

struct lks_keys {
    char access_key[LKS_ACCESS_KEY_SIZE];
    char secret_key[LKS_SECRET_KEY_SIZE];
    char token[LKS_TOKEN_SIZE]; /* "": none */
};

struct lks_aws;
struct lks_keychain;

/* Finds the source that `aws` names, and joins its keychain if another store
 * of this process has it open. Makes no request. */
enum lks_status lks_keychain_acquire(const struct lks_env *env,
                                     const struct lks_aws *aws,
                                     struct lks_keychain **out_keychain,
                                     struct lks_error *error);
void lks_keychain_release(struct lks_keychain *keychain);

/* Keys that are valid for a while. LKS_DENIED: there are none; LKS_UNAVAILABLE:
 * their source does not answer. */
enum lks_status lks_keychain_get(struct lks_keychain *keychain,
                                 const struct lks_cancel *cancel,
                                 struct lks_keys *out_keys,
                                 struct lks_error *error);

/* The store refused these. True if the next lks_keychain_get() may give
 * others. */
bool lks_keychain_refused(struct lks_keychain *keychain,
                          const struct lks_keys *refused);

#endif
