/*
 * Fuzzes the files that `pack` is given: .npy, .bin and text, looked at, and
 * then read to the end.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "token_reader.h"

/* A file's suffix says what it is, so it needs a name: a link to memory. */
struct place {
    char path[64];
    int fd;
};

static void make_place(struct place *place, const char *suffix)
{
    char target[64];

    place->fd = memfd_create("tokens", MFD_CLOEXEC);
    FUZZ_CHECK(place->fd >= 0);
    snprintf(target, sizeof(target), "/proc/self/fd/%d", place->fd);
    snprintf(place->path, sizeof(place->path), "/tmp/lks-fuzz-%d%s",
             (int)getpid(), suffix);
    unlink(place->path);
    FUZZ_CHECK(symlink(target, place->path) == 0);
}

static void leave_place(struct place *place)
{
    unlink(place->path);
    close(place->fd);
}

static void read_all(const struct token_file *file)
{
    static struct token_reader reader;
    struct lks_error error = {0};
    uint64_t left = file->data_size;
    uint8_t piece[1000];

    memset(&reader, 0, sizeof(reader));
    FUZZ_CHECK(token_reader_open(&reader, file, &error) == LKS_OK);
    while (left > 0) {
        size_t size = left < sizeof(piece) ? (size_t)left : sizeof(piece);

        FUZZ_CHECK(token_reader_read(&reader, piece, size, &error) == LKS_OK);
        left -= size;
    }
    token_reader_close(&reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const suffixes[] = {".npy", ".npy", ".bin", ""};
    struct fuzz_input input = {data, size};
    uint8_t flags = fuzz_byte(&input);
    struct lks_error error = {0};
    struct token_file file;
    struct place place;
    enum lks_status status;

    make_place(&place, suffixes[flags % 4]);
    FUZZ_CHECK(write(place.fd, input.at, input.left) == (ssize_t)input.left);
    status = token_file_look(&file, place.path,
                             (enum token_type)((flags >> 2) % 3), &error);
    fuzz_check_answer(status, &error);
    if (status == LKS_OK) {
        FUZZ_CHECK(file.data_start + file.data_size == input.left);
        read_all(&file);
    }
    leave_place(&place);
    return 0;
}
