/*
 * Listing a file store in the order of its keys' bytes.
 *
 * A folder gives its names in no order, so each is read to its end, but only
 * the smallest names of interest are kept, as many as are asked for. Most often
 * they suffice: the first key among thousands costs one pass and no sorting of
 * them all. If they do not (they may be folders without keys), another pass
 * takes the next ones.
 *
 * A folder `a` stands for keys that begin with "a/", so it sorts as "a/": after
 * the key "a-b" and before "ab".
 */
#include "store/file_store.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"

#define WINDOW_MIN 16u
#define ENTRIES_SIZE (32u << 10)
#define TEXT_SIZE (NAME_MAX + 2u)

struct name {
    char text[TEXT_SIZE]; /* a folder's ends with '/' */
};

/* The smallest names of a folder, kept as a heap with the largest on top. */
struct window {
    struct name *names;
    uint32_t *heap; /* indices of names */
    size_t count;
    size_t capacity;
    size_t size_max;
    bool is_cut; /* the folder has more */
};

/* What is looked for in one folder. */
struct range {
    const char *begin; /* names begin so */
    size_t begin_size;
    const char *after; /* keys of this folder come after it */
    const char *last;  /* names up to this one were seen */
};

struct walk {
    struct lks_file_store *file;
    const char *after;
    size_t max;
    struct lks_listed *listed;
    size_t count;
    const struct lks_cancel *cancel;
    char key[LKS_KEY_SIZE_MAX + 1]; /* of the folder, ends with '/' */
    uint8_t *entries;
};

static const char *text_at(const struct window *window, size_t at)
{
    return window->names[window->heap[at]].text;
}

static void swap(struct window *window, size_t a, size_t b)
{
    uint32_t index = window->heap[a];

    window->heap[a] = window->heap[b];
    window->heap[b] = index;
}

static void sift_up(struct window *window, size_t at)
{
    while (at > 0) {
        size_t parent = (at - 1) / 2;

        if (strcmp(text_at(window, at), text_at(window, parent)) <= 0)
            return;
        swap(window, at, parent);
        at = parent;
    }
}

/* Among the first `count` of the heap. */
static void sift_down(struct window *window, size_t count)
{
    size_t at = 0;

    for (;;) {
        size_t child = 2 * at + 1;

        if (child >= count)
            return;
        if (child + 1 < count &&
            strcmp(text_at(window, child), text_at(window, child + 1)) < 0)
            child++;
        if (strcmp(text_at(window, at), text_at(window, child)) >= 0)
            return;
        swap(window, at, child);
        at = child;
    }
}

/* From a heap to ascending order. */
static void window_sort(struct window *window)
{
    for (size_t left = window->count; left > 1; left--) {
        swap(window, 0, left - 1);
        sift_down(window, left - 1);
    }
}

static int window_grow(struct window *window)
{
    size_t capacity = window->capacity == 0 ? WINDOW_MIN : 2 * window->capacity;
    struct name *names;
    uint32_t *heap;

    if (capacity > window->size_max)
        capacity = window->size_max;
    names = lks_realloc(window->names, capacity * sizeof(*names));
    if (names == NULL)
        return ENOMEM;
    window->names = names;
    heap = lks_realloc(window->heap, capacity * sizeof(*heap));
    if (heap == NULL)
        return ENOMEM;
    window->heap = heap;
    window->capacity = capacity;
    return 0;
}

static int window_add(struct window *window, const struct name *name)
{
    if (window->count == window->size_max) {
        window->is_cut = true;
        if (strcmp(name->text, text_at(window, 0)) >= 0)
            return 0;
        window->names[window->heap[0]] = *name;
        sift_down(window, window->count);
        return 0;
    }
    if (window->count == window->capacity && window_grow(window) != 0)
        return ENOMEM;
    window->names[window->count] = *name;
    window->heap[window->count] = (uint32_t)window->count;
    window->count++;
    sift_up(window, window->count - 1);
    return 0;
}

static void window_done(struct window *window)
{
    lks_free(window->names);
    lks_free(window->heap);
}

/* The type of an entry, asked for if the folder does not say. */
static unsigned char type_of(int fd, const struct dirent64 *entry)
{
    struct stat stat;

    if (entry->d_type != DT_UNKNOWN)
        return entry->d_type;
    if (fstatat(fd, entry->d_name, &stat, AT_SYMLINK_NOFOLLOW) != 0)
        return DT_UNKNOWN;
    if (S_ISDIR(stat.st_mode))
        return DT_DIR;
    return S_ISREG(stat.st_mode) ? DT_REG : DT_UNKNOWN;
}

/* Whether the window is full and the name beyond it: the quick answer for most
 * names of a large folder. With a '/' it would only sort later. */
static bool is_beyond(struct window *window, const char *name)
{
    if (window->count < window->size_max ||
        strcmp(name, text_at(window, 0)) <= 0)
        return false;
    window->is_cut = true;
    return true;
}

/* Whether the entry is, or may lead to, a key that is looked for; then `name`
 * has its text. */
static bool is_in(int fd,
                  const struct dirent64 *entry,
                  size_t folder_size,
                  const struct range *range,
                  struct name *name)
{
    size_t size = strlen(entry->d_name);
    unsigned char type;

    /* Nothing of ours: lost+found, an editor's copy, our temporary names. */
    if (folder_size + size > LKS_KEY_SIZE_MAX || size > NAME_MAX ||
        !lks_key_is_valid(entry->d_name))
        return false;
    type = type_of(fd, entry);
    if (type != DT_REG && type != DT_DIR)
        return false;

    memcpy(name->text, entry->d_name, size);
    if (type == DT_DIR)
        name->text[size++] = '/';
    name->text[size] = '\0';
    if (strcmp(name->text, range->last) <= 0)
        return false;
    if (type == DT_REG)
        return strcmp(name->text, range->after) > 0;
    return strncmp(name->text, range->after, size) >= 0;
}

/* Fills the window with the folder's smallest names in the range. */
static int look(struct walk *walk,
                int fd,
                size_t folder_size,
                const struct range *range,
                struct window *window)
{
    struct name name;

    window->count = 0;
    window->is_cut = false;
    if (lseek(fd, 0, SEEK_SET) < 0)
        return errno;
    for (;;) {
        ssize_t size = getdents64(fd, walk->entries, ENTRIES_SIZE);

        if (size < 0 && errno == EINTR)
            continue;
        /* ENOENT: the folder was removed. */
        if (size < 0 && errno != ENOENT)
            return errno;
        if (size <= 0)
            break;
        if (lks_cancelled(walk->cancel))
            return ECANCELED;
        for (ssize_t at = 0; at < size;) {
            const struct dirent64 *entry = (void *)(walk->entries + at);

            at += entry->d_reclen;
            if (strncmp(entry->d_name, range->begin, range->begin_size) != 0 ||
                is_beyond(window, entry->d_name))
                continue;
            if (is_in(fd, entry, folder_size, range, &name) &&
                window_add(window, &name) != 0)
                return ENOMEM;
        }
    }
    window_sort(window);
    return 0;
}

/* Adds an object's key, unless it was removed meanwhile. */
static int emit(struct walk *walk, int fd, size_t folder_size, const char *name)
{
    struct lks_listed *listed = &walk->listed[walk->count];
    struct stat stat;

    if (fstatat(fd, name, &stat, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT || errno == ESTALE ? 0 : errno;
    if (!S_ISREG(stat.st_mode))
        return 0;
    memcpy(listed->key, walk->key, folder_size);
    memcpy(listed->key + folder_size, name, strlen(name) + 1);
    listed->size = (uint64_t)stat.st_size;
    listed->modified_ms = lks_file_time_ms(stat.st_ctim);
    walk->count++;
    return 0;
}

static bool has_vanished(int reason)
{
    return reason == ENOENT || reason == ENOTDIR || reason == ELOOP ||
           reason == ESTALE;
}

static int walk_folder(struct walk *walk, int fd, const char *begin);

/* Lists what is below a folder of the folder. */
static int descend(struct walk *walk,
                   int fd,
                   size_t folder_size,
                   const char *text)
{
    size_t size = strlen(text);
    char name[TEXT_SIZE];
    int below_fd;
    int reason;

    /* No key can be below one that is as long as a key may be. */
    if (folder_size + size >= LKS_KEY_SIZE_MAX)
        return 0;
    memcpy(name, text, size - 1);
    name[size - 1] = '\0';
    below_fd =
        openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (below_fd < 0)
        return has_vanished(errno) ? 0 : errno;

    memcpy(walk->key + folder_size, text, size + 1);
    reason = walk_folder(walk, below_fd, "");
    walk->key[folder_size] = '\0';
    close(below_fd);
    return reason;
}

/* The part of walk->after that concerns the names of this folder; NULL if all
 * its keys come before. */
static const char *after_within(const struct walk *walk, size_t folder_size)
{
    int order = strncmp(walk->key, walk->after, folder_size);

    if (order == 0)
        return walk->after + folder_size;
    return order > 0 ? "" : NULL;
}

/*
 * Lists the keys below a folder, in order. Recursive: a key has a bounded
 * number of segments, and so has this.
 */
static int walk_folder(struct walk *walk, int fd, const char *begin)
{
    size_t folder_size = strlen(walk->key);
    struct window window = {0};
    struct range range = {
        .begin = begin,
        .begin_size = strlen(begin),
        .after = after_within(walk, folder_size),
        .last = "",
    };
    struct name last;
    int reason = 0;

    if (range.after == NULL)
        return 0;
    window.size_max = walk->max - walk->count;
    if (window.size_max < WINDOW_MIN)
        window.size_max = WINDOW_MIN;

    do {
        reason = look(walk, fd, folder_size, &range, &window);
        for (size_t i = 0; i < window.count && reason == 0; i++) {
            const char *text = text_at(&window, i);

            if (walk->count == walk->max)
                break;
            if (text[strlen(text) - 1] == '/')
                reason = descend(walk, fd, folder_size, text);
            else
                reason = emit(walk, fd, folder_size, text);
        }
        if (window.count > 0) {
            last = window.names[window.heap[window.count - 1]];
            range.last = last.text;
        }
    } while (window.is_cut && walk->count < walk->max && reason == 0);

    window_done(&window);
    return reason;
}

static int list(struct walk *walk, const char *prefix)
{
    const char *begin = lks_file_split(prefix, walk->key);
    size_t size = strlen(walk->key);
    int reason;
    int fd;

    fd = lks_file_open_below(walk->file, walk->key, O_RDONLY | O_DIRECTORY);
    if (fd < 0)
        return has_vanished(errno) || errno == ENAMETOOLONG ? 0 : errno;
    if (size > 0)
        memcpy(walk->key + size, "/", 2);
    reason = walk_folder(walk, fd, begin);
    close(fd);
    return reason;
}

enum lks_status lks_file_list(struct lks_store *store,
                              const char *prefix,
                              const char *after,
                              size_t max,
                              struct lks_listed *listed,
                              size_t *out_count,
                              struct lks_call *call,
                              struct lks_error *error)
{
    struct walk walk = {
        .file = (struct lks_file_store *)store,
        .after = after,
        .max = max,
        .listed = listed,
        .cancel = call->cancel,
    };
    int reason;

    walk.entries = lks_alloc(ENTRIES_SIZE);
    if (walk.entries == NULL)
        return lks_error_no_memory(error);
    reason = list(&walk, prefix);
    lks_free(walk.entries);

    call->request_count = 1;
    lks_file_date(walk.file, call);
    if (reason != 0)
        return lks_file_fail(reason, error);
    *out_count = walk.count;
    return LKS_OK;
}
