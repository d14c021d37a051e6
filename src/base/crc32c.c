/*
 * CRC32C by ISA-L, which uses the processor's own instructions.
 */
#include "base/crc32c.h"

#include <isa-l/crc.h>

/* ISA-L counts in int. */
#define CRC_CHUNK_SIZE ((size_t)1 << 30)

uint32_t lks_crc32c(const void *data, size_t size)
{
    return lks_crc32c_more(0, data, size);
}

uint32_t lks_crc32c_more(uint32_t crc, const void *data, size_t size)
{
    const unsigned char *bytes = data;

    while (size > 0) {
        size_t chunk = size < CRC_CHUNK_SIZE ? size : CRC_CHUNK_SIZE;

        /* ISA-L reads only, but its signature does not say so. It leaves out
         * both inversions of the CRC as everybody defines it. */
        crc = ~crc32_iscsi((unsigned char *)bytes, (int)chunk, ~crc);
        bytes += chunk;
        size -= chunk;
    }
    return crc;
}
