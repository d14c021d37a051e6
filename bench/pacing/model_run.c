/*
 * The model's producers and their store, event by event.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pacing_model.h"

#define NS_PER_S 1e9
#define BLOCK_STEPS 256u
#define TRUST_SECONDS 60.0

/* Bytes of a manifest: what every one has, an entry, a producer, and a step of
 * one that lists them all. */
#define SIZE_FIXED 1024.0
#define SIZE_ENTRY 48.0
#define SIZE_PRODUCER 128.0
#define SIZE_STEP 64.0

enum event_kind {
    EVENT_APPEND,
    EVENT_STORED,
    EVENT_FLIP,
    EVENT_CHURN,
    EVENT_STEP,  /* the wait before a look or a try is over */
    EVENT_SNAP,  /* the store answers a look */
    EVENT_SEEN,  /* the answer has come */
    EVENT_LAND,  /* a try reaches the store */
    EVENT_TRIED, /* its answer has come */
};

/* Times of TGBs, first in, first out. */
struct fifo {
    double *times;
    size_t first;
    size_t count;
    size_t capacity;
};

struct actor {
    struct lks_pacing pacing;
    struct fifo stored; /* when they were appended */
    struct fifo uploading;
    double stored_last;
    double times; /* its latencies, against the usual */
    bool busy;    /* it is given TGBs */
    bool waiting; /* an event of its pacing is on the way */
    bool opened;
    struct lks_step step;
    double sent;
    double proven; /* when a version was last known to be the newest */
    struct lks_pacing_look look;
    struct lks_pacing_view view;
    size_t batch;
    uint64_t attempt; /* version; 0: none that is not settled */
    bool throttled;
    uint64_t wins;
};

struct model {
    const struct model_config *config;
    struct model_result *result;
    struct model_random random;
    struct model_events events;
    struct model_chain chain;
    struct actor *actors;
    float *fresh;
    size_t fresh_count;
    size_t fresh_capacity;
    double now;
    bool failed; /* memory is out */
};

/* ------------------------------------------------------------------ parts --
 */

static void fifo_push(struct model *model, struct fifo *fifo, double time)
{
    if (fifo->count == fifo->capacity) {
        size_t capacity = fifo->capacity == 0 ? 16 : 2 * fifo->capacity;
        double *times = malloc(capacity * sizeof(double));

        if (times == NULL) {
            model->failed = true;
            return;
        }
        for (size_t i = 0; i < fifo->count; i++)
            times[i] = fifo->times[(fifo->first + i) % fifo->capacity];
        free(fifo->times);
        fifo->times = times;
        fifo->first = 0;
        fifo->capacity = capacity;
    }
    fifo->times[(fifo->first + fifo->count++) % fifo->capacity] = time;
}

static double fifo_pop(struct fifo *fifo)
{
    double time = fifo->times[fifo->first];

    fifo->first = (fifo->first + 1) % fifo->capacity;
    fifo->count--;
    return time;
}

static void push(struct model *model,
                 double time,
                 enum event_kind kind,
                 uint32_t who,
                 uint64_t number)
{
    if (!model_events_push(&model->events, time, kind, who, number))
        model->failed = true;
}

static bool counts(const struct model *model)
{
    return model->now >= model->config->warm_seconds;
}

static size_t bucket(const struct model *model)
{
    double part = model->now / model->config->seconds;

    return part >= 1.0 ? MODEL_BUCKETS - 1
                       : (size_t)(part * (double)MODEL_BUCKETS);
}

static void note_fresh(struct model *model, double age)
{
    if (model->fresh_count == model->fresh_capacity) {
        size_t capacity =
            model->fresh_capacity == 0 ? 65536 : 2 * model->fresh_capacity;
        float *grown = realloc(model->fresh, capacity * sizeof(float));

        if (grown == NULL) {
            model->failed = true;
            return;
        }
        model->fresh = grown;
        model->fresh_capacity = capacity;
    }
    model->fresh[model->fresh_count++] = (float)age;
}

/* ------------------------------------------------------------------ store --
 */

/* One request's time, without its bytes: lognormal, and a stall at times. */
static double latency(struct model *model,
                      const struct actor *actor,
                      double mean_ms)
{
    const struct model_config *config = model->config;
    double sigma = config->sigma;
    double ms = mean_ms * exp(sigma * model_random_normal(&model->random) -
                              sigma * sigma / 2.0);

    if (model_random_unit(&model->random) < config->stall_chance)
        ms += model_random_exponential(&model->random, config->stall_ms);
    return ms * actor->times / 1000.0;
}

static double manifest_seconds(const struct model *model, uint64_t version)
{
    const struct model_config *config = model->config;
    uint64_t steps = model_chain_at(&model->chain, version)->steps;
    double size = SIZE_FIXED + SIZE_PRODUCER * config->producers +
                  SIZE_ENTRY * (double)(steps % BLOCK_STEPS);

    if (config->growing)
        size += SIZE_STEP * (double)steps;
    return size / config->bandwidth;
}

/* -------------------------------------------------------------- producers --
 */

static uint64_t now_ns(const struct model *model)
{
    return (uint64_t)(model->now * NS_PER_S);
}

static void go_on(struct model *model, uint32_t who)
{
    struct actor *actor = &model->actors[who];

    actor->waiting = actor->stored.count > 0;
    if (!actor->waiting)
        return;
    lks_pacing_next(&actor->pacing, now_ns(model),
                    model_random_unit(&model->random), &actor->step);
    push(model, model->now + (double)actor->step.wait_ns / NS_PER_S, EVENT_STEP,
         who, 0);
}

static void append(struct model *model, uint32_t who)
{
    const struct model_config *config = model->config;
    struct actor *actor = &model->actors[who];
    double stored;

    if (!actor->busy)
        return;
    if (counts(model))
        model->result->offered++;
    stored = model->now + latency(model, actor, config->put_ms) +
             config->tgb_size / config->bandwidth;
    if (stored < actor->stored_last)
        stored = actor->stored_last; /* They are committed in order. */
    actor->stored_last = stored;
    fifo_push(model, &actor->uploading, model->now);
    push(model, stored, EVENT_STORED, who, 0);
    push(model,
         model->now +
             model_random_exponential(&model->random, 1.0 / config->tgb_rate),
         EVENT_APPEND, who, 0);
}

static void stored(struct model *model, uint32_t who)
{
    struct actor *actor = &model->actors[who];

    fifo_push(model, &actor->stored, fifo_pop(&actor->uploading));
    if (!actor->waiting)
        go_on(model, who);
}

static void set_busy(struct model *model, uint32_t who, bool busy)
{
    struct actor *actor = &model->actors[who];

    if (busy && !actor->busy)
        push(model,
             model->now +
                 model_random_exponential(&model->random,
                                          1.0 / model->config->tgb_rate),
             EVENT_APPEND, who, 0);
    actor->busy = busy;
}

/* A look by name; by listing, when it was long ago that one was proven. */
static void begin_look(struct model *model, uint32_t who)
{
    struct actor *actor = &model->actors[who];
    double time = latency(model, actor, model->config->get_ms);
    bool list = model->now - actor->proven > TRUST_SECONDS;

    actor->sent = model->now;
    actor->look = (struct lks_pacing_look){
        .sent_ns = now_ns(model),
        .stride = actor->step.stride,
        .newest = list,
    };
    if (counts(model)) {
        model->result->gets++;
        model->result->lists += list;
    }
    push(model, model->now + time / 2.0, EVENT_SNAP, who, 0);
}

static void snap(struct model *model, uint32_t who)
{
    struct actor *actor = &model->actors[who];
    uint64_t known = actor->pacing.view.version;
    uint64_t wanted = known + actor->look.stride;
    double back = model->now - actor->sent;

    if (actor->look.newest) {
        wanted = model->chain.head;
        back += latency(model, actor, model->config->get_ms);
        actor->proven = actor->sent;
    } else if (wanted > model->chain.head) {
        wanted = known;
        if (actor->look.stride == 1)
            actor->proven = actor->sent;
    } else if (wanted + MODEL_HISTORY <= model->chain.head + 1) {
        wanted = model->chain.head - MODEL_HISTORY / 2;
    }
    actor->look.advanced = wanted > known;
    if (actor->look.advanced)
        back += manifest_seconds(model, wanted);
    model_chain_view(&model->chain, wanted, who, &actor->view);
    push(model, model->now + back, EVENT_SEEN, who, 0);
}

static void settle(struct model *model, uint32_t who)
{
    struct actor *actor = &model->actors[who];
    enum lks_outcome outcome = LKS_OUTCOME_LOST;

    if (actor->attempt == 0 || actor->view.version < actor->attempt)
        return;
    if (model_chain_at(&model->chain, actor->attempt)->by == who)
        outcome = LKS_OUTCOME_WON;
    else if (actor->throttled)
        outcome = LKS_OUTCOME_THROTTLED;
    actor->attempt = 0;
    for (size_t i = 0; outcome == LKS_OUTCOME_WON && i < actor->batch; i++)
        fifo_pop(&actor->stored);
    lks_pacing_settled(&actor->pacing, outcome, now_ns(model),
                       model_random_unit(&model->random));
}

static void seen(struct model *model, uint32_t who)
{
    struct actor *actor = &model->actors[who];

    actor->look.replied_ns = now_ns(model);
    lks_pacing_saw(&actor->pacing, &actor->look, &actor->view);
    settle(model, who);
    go_on(model, who);
}

static void begin_try(struct model *model, uint32_t who)
{
    const struct model_config *config = model->config;
    struct actor *actor = &model->actors[who];
    uint64_t base = actor->pacing.view.version;
    uint64_t steps = model_chain_at(&model->chain, base)->steps;
    uint64_t room =
        config->growing ? UINT64_MAX : BLOCK_STEPS - steps % BLOCK_STEPS;
    double time = latency(model, actor, config->put_ms);
    double bytes = manifest_seconds(model, base);

    actor->sent = model->now;
    actor->attempt = base + 1;
    actor->throttled = false;
    actor->batch = actor->stored.count < room ? actor->stored.count : room;
    if (counts(model)) {
        model->result->tries++;
        model->result->guest_tries += !actor->pacing.view.turn.in_ring;
        model->result->take_overs += actor->pacing.view.turn.in_ring &&
                                     actor->pacing.view.turn.ahead > 0;
    }
    model->result->open_tries += !actor->opened;
    push(model, model->now + bytes + time / 2.0, EVENT_LAND, who, 0);
    push(model, model->now + bytes + time, EVENT_TRIED, who, 0);
}

static void note_open(struct model *model, struct actor *actor)
{
    actor->opened = true;
    model->result->open_seconds = model->now;
}

static void land(struct model *model, uint32_t who)
{
    const struct model_config *config = model->config;
    struct actor *actor = &model->actors[who];
    struct model_version *made;
    bool guest = !actor->pacing.view.turn.in_ring;

    if (model->chain.head + 1 != actor->attempt) {
        double age =
            model->now - model_chain_at(&model->chain, actor->attempt)->landed;

        actor->throttled = config->key_limit && age < 1.0;
        return;
    }
    made = model_chain_add(&model->chain, who, actor->batch, model->now,
                           lks_pacing_attempt_ns(&actor->pacing));
    for (size_t i = 0; i < actor->batch; i++) {
        struct fifo *fifo = &actor->stored;
        double appended = fifo->times[(fifo->first + i) % fifo->capacity];

        if (appended >= config->warm_seconds)
            note_fresh(model, model->now - appended);
    }
    if (!actor->opened)
        note_open(model, actor);
    model->result->bytes[bucket(model)] +=
        (double)actor->batch * config->tgb_size;
    model->result->commits[bucket(model)] += 1.0;
    if (!counts(model))
        return;
    model->result->wins++;
    model->result->guest_wins += guest;
    model->result->tgbs += actor->batch;
    actor->wins++;
    (void)made;
}

static void churn(struct model *model, uint32_t who)
{
    set_busy(model, who, !model->actors[who].busy);
    push(model,
         model->now + model_random_exponential(&model->random,
                                               model->config->churn_seconds),
         EVENT_CHURN, who, 0);
}

static void handle(struct model *model, const struct model_event *event)
{
    uint32_t who = event->who;
    struct actor *actor = &model->actors[who];

    switch ((enum event_kind)event->kind) {
    case EVENT_APPEND:
        append(model, who);
        break;
    case EVENT_STORED:
        stored(model, who);
        break;
    case EVENT_FLIP:
        set_busy(model, who, !actor->busy);
        push(model,
             model->now + model_random_exponential(&model->random,
                                                   model->config->flip_seconds),
             EVENT_FLIP, who, 0);
        break;
    case EVENT_CHURN:
        churn(model, who);
        break;
    case EVENT_STEP:
        if (actor->step.act == LKS_ACT_LOOK)
            begin_look(model, who);
        else
            begin_try(model, who);
        break;
    case EVENT_SNAP:
        snap(model, who);
        break;
    case EVENT_SEEN:
        seen(model, who);
        break;
    case EVENT_LAND:
        land(model, who);
        break;
    case EVENT_TRIED:
        lks_pacing_tried(&actor->pacing, (uint64_t)(actor->sent * NS_PER_S),
                         now_ns(model));
        go_on(model, who);
        break;
    }
}

/* ---------------------------------------------------------------- the run --
 */

static bool begin(struct model *model)
{
    const struct model_config *config = model->config;
    struct model_version *first;

    model_random_init(&model->random, config->seed);
    model->actors = calloc(config->producers, sizeof(struct actor));
    if (model->actors == NULL ||
        !model_chain_init(&model->chain, config->producers))
        return false;
    first = model_chain_at(&model->chain, 0);
    for (uint32_t i = 0; i < config->producers; i++) {
        struct actor *actor = &model->actors[i];
        double draw = model_random_unit(&model->random);

        lks_pacing_init(&actor->pacing, &config->pacing);
        actor->times = i < config->slow_count || draw < config->slow_part
                           ? config->slow_times
                           : 1.0;
        actor->proven = -2.0 * TRUST_SECONDS;
        actor->opened = !config->opens;
        if (config->opens) {
            fifo_push(model, &actor->stored, -1.0);
            actor->waiting = true;
            actor->step = (struct lks_step){.act = LKS_ACT_LOOK, .stride = 1};
            push(model, model_random_unit(&model->random) * 0.5, EVENT_STEP, i,
                 0);
        } else {
            lks_ring_join(&first->ring, i);
        }
        if (model_random_unit(&model->random) >= config->idle_part)
            set_busy(model, i, true);
        if (config->flip_seconds > 0.0)
            push(model,
                 model_random_exponential(&model->random, config->flip_seconds),
                 EVENT_FLIP, i, 0);
        if (config->churn_seconds > 0.0)
            push(model,
                 model_random_exponential(&model->random,
                                          config->churn_seconds),
                 EVENT_CHURN, i, 0);
    }
    return !model->failed;
}

static int compare(const void *a, const void *b)
{
    float left = *(const float *)a;
    float right = *(const float *)b;

    return (left > right) - (left < right);
}

static double quantile(const struct model *model, double part)
{
    size_t index = (size_t)((double)model->fresh_count * part);

    if (model->fresh_count == 0)
        return NAN;
    if (index >= model->fresh_count)
        index = model->fresh_count - 1;
    return (double)model->fresh[index];
}

static void note_waiting(struct model *model, const struct fifo *fifo)
{
    for (size_t i = 0; i < fifo->count; i++) {
        double appended = fifo->times[(fifo->first + i) % fifo->capacity];

        if (appended >= model->config->warm_seconds)
            note_fresh(model, model->config->seconds - appended);
    }
}

static void summarise(struct model *model)
{
    struct model_result *result = model->result;
    double attempts = 0.0;
    uint64_t head = model->chain.head;

    result->wins_least = UINT64_MAX;
    for (uint32_t i = 0; i < model->config->producers; i++) {
        struct actor *actor = &model->actors[i];

        note_waiting(model, &actor->stored);
        attempts += lks_pacing_attempt_ns(&actor->pacing) / NS_PER_S;
        if (!actor->busy)
            continue;
        if (actor->wins < result->wins_least)
            result->wins_least = actor->wins;
        if (actor->wins > result->wins_most)
            result->wins_most = actor->wins;
    }
    result->attempt_seconds = attempts / model->config->producers;
    qsort(model->fresh, model->fresh_count, sizeof(float), compare);
    result->fresh_p50 = quantile(model, 0.5);
    result->fresh_p95 = quantile(model, 0.95);
    result->fresh_p99 = quantile(model, 0.99);
    result->manifest_size =
        (uint64_t)(manifest_seconds(model, head) * model->config->bandwidth);
}

bool model_run(const struct model_config *config, struct model_result *result)
{
    struct model model = {.config = config, .result = result};
    struct model_event event;
    bool ready;

    *result = (struct model_result){.tries = 0};
    ready = begin(&model);
    while (ready && !model.failed && model_events_pop(&model.events, &event) &&
           event.time <= config->seconds) {
        model.now = event.time;
        handle(&model, &event);
    }
    if (ready && !model.failed)
        summarise(&model);
    for (uint32_t i = 0; model.actors != NULL && i < config->producers; i++) {
        free(model.actors[i].stored.times);
        free(model.actors[i].uploading.times);
    }
    free(model.actors);
    free(model.fresh);
    free(model.events.items);
    model_chain_done(&model.chain);
    return ready && !model.failed;
}
