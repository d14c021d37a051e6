/*
 * CRC32C (Castagnoli), as iSCSI, ext4 and S3 count it:
 * "123456789" gives e3069283.
 */
#ifndef LKS_BASE_CRC32C_H
#define LKS_BASE_CRC32C_H

#include "lakestream.h"

/* lks_crc32c() is public: see lakestream.h. */

/* Continues: lks_crc32c_more(lks_crc32c(a), b) is the CRC of a and b. */
uint32_t lks_crc32c_more(uint32_t crc, const void *data, size_t size);

#endif
