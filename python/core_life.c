/*
 * The life of a stream: watermarks, pins, limits, evictions, reclaiming, forks.
 *
 * A commit that a signal ends is left to itself, and may still come about.
 */
#include "core.h"

#include <stdlib.h>
#include <string.h>

enum life_kind {
    LIFE_WATERMARK,
    LIFE_PIN,
    LIFE_UNPIN,
    LIFE_LIMIT,
    LIFE_EVICT_GROUP,
    LIFE_EVICT_PRODUCER,
    LIFE_RECLAIM,
    LIFE_FORK,
    LIFE_DROP,
};

struct life_call {
    enum life_kind kind;
    struct lks_stream *stream; /* referred to by the caller's reference */
    struct lks_options *options;
    char *name; /* of a group, pin or producer; or a fork's URL */
    uint64_t step;
    uint64_t limits[2]; /* steps, bytes */
    bool has_limit[2];
    uint32_t rank;
    uint32_t ranks;
    int flag; /* dry_run, force */
    char *json;
};

static enum lks_status run_life(void *arg, struct lks_error *error)
{
    struct life_call *life = arg;
    struct lks_stream *fork = NULL;
    enum lks_status status = LKS_INVALID;

    switch (life->kind) {
    case LIFE_WATERMARK:
        return lks_stream_watermark(life->stream, life->name, life->ranks,
                                    life->rank, life->step, life->options,
                                    error);
    case LIFE_PIN:
        return lks_stream_pin(life->stream, life->name, life->step,
                              life->options, error);
    case LIFE_UNPIN:
        return lks_stream_unpin(life->stream, life->name, life->options, error);
    case LIFE_LIMIT:
        return lks_stream_limit(life->stream,
                                life->has_limit[0] ? &life->limits[0] : NULL,
                                life->has_limit[1] ? &life->limits[1] : NULL,
                                life->options, error);
    case LIFE_EVICT_GROUP:
        return lks_stream_evict_group(life->stream, life->name, life->rank,
                                      life->options, error);
    case LIFE_EVICT_PRODUCER:
        return lks_stream_evict_producer(life->stream, life->name,
                                         life->options, error);
    case LIFE_RECLAIM:
        return lks_stream_reclaim(life->stream, life->flag, life->options,
                                  &life->json, error);
    case LIFE_DROP:
        return lks_stream_drop(life->stream, life->flag, life->options,
                               &life->json, error);
    case LIFE_FORK:
        status = lks_stream_fork(life->stream, life->step, life->name,
                                 life->options, &fork, error);
        lks_stream_close(fork);
        break;
    }
    return status;
}

static void discard_life(void *arg)
{
    struct life_call *life = arg;

    lks_text_free(life->json);
    lks_options_free(life->options);
    free(life->name);
    free(life);
}

/* NULL with an exception. */
static struct life_call *life_new(const struct life_call *wish,
                                  struct core_stream *stream,
                                  const char *name,
                                  PyObject *options)
{
    struct life_call *life = malloc(sizeof(*life));

    if (life == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    *life = *wish;
    life->stream = stream->stream;
    life->name = strdup(name);
    life->options = core_options_new(options);
    if (life->name != NULL && life->options != NULL)
        return life;
    if (!PyErr_Occurred())
        PyErr_NoMemory();
    discard_life(life);
    return NULL;
}

static PyObject *change(PyObject *object,
                        const struct life_call *wish,
                        const char *name,
                        PyObject *options)
{
    static const struct core_call call = {.run = run_life,
                                          .discard = discard_life};
    struct core_stream *self = (void *)object;
    struct life_call *life;
    struct lks_error error;
    PyObject *result = NULL;

    if (!core_guard_check(&self->guard))
        return NULL;
    life = life_new(wish, self, name, options);
    if (life == NULL)
        return NULL;
    Py_INCREF(object); /* Left to a call that is abandoned. */
    if (!core_call_run(&call, life, &error))
        return NULL;
    if (error.status != LKS_OK)
        core_raise(&error);
    else if (life->json != NULL)
        result = PyUnicode_FromString(life->json);
    else
        result = Py_NewRef(Py_None);
    discard_life(life);
    Py_DECREF(object);
    return result;
}

PyObject *core_stream_watermark(PyObject *self, PyObject *args)
{
    struct life_call wish = {.kind = LIFE_WATERMARK};
    PyObject *options;
    const char *group;

    if (!PyArg_ParseTuple(args, "sO&O&O&O", &group, core_to_u32, &wish.ranks,
                          core_to_u32, &wish.rank, core_to_u64, &wish.step,
                          &options))
        return NULL;
    return change(self, &wish, group, options);
}

PyObject *core_stream_pin(PyObject *self, PyObject *args)
{
    struct life_call wish = {.kind = LIFE_PIN};
    PyObject *options;
    const char *name;

    if (!PyArg_ParseTuple(args, "sO&O", &name, core_to_u64, &wish.step,
                          &options))
        return NULL;
    return change(self, &wish, name, options);
}

PyObject *core_stream_unpin(PyObject *self, PyObject *args)
{
    struct life_call wish = {.kind = LIFE_UNPIN};
    PyObject *options;
    const char *name;

    if (!PyArg_ParseTuple(args, "sO", &name, &options))
        return NULL;
    return change(self, &wish, name, options);
}

PyObject *core_stream_limit(PyObject *self, PyObject *args)
{
    struct life_call wish = {.kind = LIFE_LIMIT};
    PyObject *values[2], *options;

    if (!PyArg_ParseTuple(args, "OOO", &values[0], &values[1], &options))
        return NULL;
    for (size_t i = 0; i < 2; i++) {
        wish.has_limit[i] = values[i] != Py_None;
        if (wish.has_limit[i] && core_to_u64(values[i], &wish.limits[i]) == 0)
            return NULL;
    }
    return change(self, &wish, "", options);
}

/* rank None: the whole group. */
PyObject *core_stream_evict_group(PyObject *self, PyObject *args)
{
    struct life_call wish = {.kind = LIFE_EVICT_GROUP, .rank = LKS_RANK_ALL};
    PyObject *rank, *options;
    const char *group;

    if (!PyArg_ParseTuple(args, "sOO", &group, &rank, &options))
        return NULL;
    if (rank != Py_None && core_to_u32(rank, &wish.rank) == 0)
        return NULL;
    return change(self, &wish, group, options);
}

PyObject *core_stream_evict_producer(PyObject *self, PyObject *args)
{
    struct life_call wish = {.kind = LIFE_EVICT_PRODUCER};
    PyObject *options;
    const char *id;

    if (!PyArg_ParseTuple(args, "sO", &id, &options))
        return NULL;
    return change(self, &wish, id, options);
}

static PyObject *sweep(PyObject *self, PyObject *args, enum life_kind kind)
{
    struct life_call wish = {.kind = kind};
    PyObject *options;

    if (!PyArg_ParseTuple(args, "pO", &wish.flag, &options))
        return NULL;
    return change(self, &wish, "", options);
}

PyObject *core_stream_reclaim(PyObject *self, PyObject *args)
{
    return sweep(self, args, LIFE_RECLAIM);
}

PyObject *core_stream_drop(PyObject *self, PyObject *args)
{
    return sweep(self, args, LIFE_DROP);
}

PyObject *core_stream_fork(PyObject *self, PyObject *args)
{
    struct life_call wish = {.kind = LIFE_FORK};
    PyObject *options;
    const char *url;

    if (!PyArg_ParseTuple(args, "O&sO", core_to_u64, &wish.step, &url,
                          &options))
        return NULL;
    return change(self, &wish, url, options);
}
