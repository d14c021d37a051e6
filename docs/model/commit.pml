/*
 * Commit, ownership and the reclaim of manifests, as a model that spin searches
 * to the end: every interleaving, at every moment that a process may sleep, of
 * an incarnation of a producer id, other writers, and a network that loses
 * requests and replies and delivers writes late. Against it
 *
 *   by default   a clock and a reclaimer that deletes old manifests
 *   -DRIVALS     a second incarnation of the same id
 *
 * docs/protocol.md argues the rules; each can be removed, and an assertion
 * fails then:
 *
 *   -DEPOCH_ALONE   an epoch without an owner              "Ownership"
 *   -DUNFENCED      whoever is not the owner goes on       "Ownership"
 *   -DCREATED       a create that succeeded is a commit    "Commit"
 *   -DUNSURE        an unanswered create is built upon     "Commit"
 *   -DFOR_EVER      a name is trusted without X            "Trusting a name"
 *   -DLISTED        what was listed is read at leisure     "Trusting a name"
 *   -DEAGER         manifests are deleted without Y        "Trusting a name"
 *
 * An assertion quotes the invariant that it checks. A version's content is what
 * it says of the one id: (epoch, owner, next). Time is the store's, in ages that
 * stop where they make no difference, so that it needs no end.
 */

#ifndef VERSIONS
#define VERSIONS 4 /* beyond it nobody writes */
#endif
#define X 1
#define Y 1        /* more than Y old: more than X, for any rounding */
#define OLDEST 2   /* ages stop here; more makes no difference */
#define NONE 3     /* no proof */

typedef Manifest {
    bool is;
    byte epoch;
    byte owner;
    byte next;
    byte age;
};

/* A write that is still on its way. */
typedef Late {
    byte version; /* 0: none */
    byte epoch;
    byte owner;
    byte next;
};

Manifest store[VERSIONS + 1]; /* what can be read; 0 is the empty stream */
Manifest chain[VERSIONS + 1]; /* what was made first: history itself */
Late late[3];
byte head;                    /* of the chain */
byte reply[3];                /* age of the last reply that each one got */
byte proof[3] = NONE;         /* age of its proof */
byte before[3];               /* age of the reply before a listing */

#define SAME(a, b) (a.epoch == b.epoch && a.owner == b.owner && a.next == b.next)

/* A write arrives. `made` says whether it created the object. */
inline land(v_, e_, o_, n_, m_)
{
    m_ = false;
    if
    :: store[v_].is -> skip
    :: else ->
        m_ = true;
        store[v_].is = true;
        store[v_].epoch = e_;
        store[v_].owner = o_;
        store[v_].next = n_;
        store[v_].age = 0;
        /* 1, linear: nobody builds on what is not there. */
        assert(v_ <= head + 1);
        if
        :: v_ == head + 1 ->
            /* 3, exactly once: an epoch goes up by one, with a new owner; a
             * seq is added by the owner, and is the next. */
            assert((e_ == chain[head].epoch && o_ == chain[head].owner) ||
                   (e_ == chain[head].epoch + 1 && n_ == chain[head].next));
            assert(n_ == chain[head].next || n_ == chain[head].next + 1);
            head = v_;
            chain[head].epoch = e_;
            chain[head].owner = o_;
            chain[head].next = n_;
        :: else -> skip /* A stray: that name was used up. */
        fi
    fi
}

/* The newest by listing. */
inline newest(v_)
{
    v_ = VERSIONS;
    do
    :: v_ > 0 && !store[v_].is -> v_--
    :: else -> break
    od
}

/*
 * lks_log_look(): leaves the newest manifest in `known`, `seen`. A proof is as
 * old as the last reply that came before its request was sent.
 */
#ifdef FOR_EVER
#define TRUSTED true
#else
#define TRUSTED (proof[me] <= X)
#endif
#ifdef LISTED
#define IN_TIME true
#else
#define IN_TIME (before[me] <= X)
#endif

inline read_it()
{
    seen.epoch = store[known].epoch;
    seen.owner = store[known].owner;
    seen.next = store[known].next
}

inline look()
{
    looked = head;
    do
    :: found -> break
    :: !found && proof[me] != NONE ->
        d_step { /* by name */
            if
            :: !TRUSTED -> proof[me] = NONE
            :: TRUSTED && known < VERSIONS && store[known + 1].is ->
                known++;
                read_it()
            :: else -> proof[me] = reply[me]; found = true
            fi;
            reply[me] = 0
        }
    :: !found && proof[me] == NONE ->
        d_step { newest(known); before[me] = reply[me]; reply[me] = 0 }
        d_step {
            read_it();
            reply[me] = 0;
            if
            :: (known == 0 || store[known].is) && IN_TIME ->
                proof[me] = before[me];
                found = true
            :: else -> skip /* list again */
            fi;
            before[me] = 0
        }
    od;
    atomic {
        /* 1, linear: it is the newest there was, or later, and genuine. */
        assert(known >= looked);
        assert(SAME(seen, chain[known]));
        looked = 0;
        found = false
    }
}

/* lks_log_create(): it takes now or late or never, with a reply or without. */
inline create(e_, o_, n_)
{
    made = false;
    atomic {
        target = known + 1;
        if
        :: land(target, e_, o_, n_, made);
           if
           :: reply[me] = 0       /* answered */
           :: made = false        /* the reply is lost */
           fi
        :: late[me].version == 0 ->
           late[me].version = target;
           late[me].epoch = e_;
           late[me].owner = o_;
           late[me].next = n_
        :: skip                   /* the request is lost */
        fi;
        target = 0
    }
}

#if defined(UNFENCED)
#define MINE true
#elif defined(EPOCH_ALONE)
#define MINE (seen.epoch == epoch)
#else
#define MINE (seen.epoch == epoch && seen.owner == me)
#endif

/* One incarnation: opens, commits one batch, ends. */
proctype producer(byte me)
{
    Manifest seen;
    byte known, looked, target;
    byte epoch;
    byte seq;
    bool found, made;

    /* Open. */
    do
    :: look();
       if
#ifdef EPOCH_ALONE
       :: epoch != 0 && seen.epoch == epoch -> break
       :: (epoch == 0 || seen.epoch != epoch) && known < VERSIONS ->
#else
       :: seen.owner == me -> epoch = seen.epoch; break
       :: seen.owner != me && known < VERSIONS ->
#endif
          epoch = seen.epoch + 1;
          create(epoch, me, seen.next)
       :: else -> goto over
       fi
    od;
    /* 3: no two believe in one epoch. */
    assert(chain[known].epoch != epoch || chain[known].owner == me);
    seq = seen.next;

    /* Commit the batch `seq`. */
    do
    :: look();
       if
       :: !MINE -> goto over /* fenced */
       :: MINE && seen.next > seq -> break
       :: MINE && seen.next <= seq && known < VERSIONS ->
          create(epoch, me, seq + 1);
#ifdef UNSURE
          known++;
          seen.next = seq + 1;
#endif
#ifdef CREATED
          if
          :: made -> known++; break
          :: else -> skip
          fi
#endif
       :: else -> goto over
       fi
    od;
    /* 4, durable: what is acknowledged is in the chain, and mine. */
    assert(chain[head].next > seq);
over:
    skip
}

/* All other producers: honest, and never late. */
active proctype others()
{
    Manifest same; /* an inline's arguments are texts, not values */
    byte version;
    bool made;

    do
    :: atomic {
        head < VERSIONS ->
        same.epoch = chain[head].epoch;
        same.owner = chain[head].owner;
        same.next = chain[head].next;
        version = head + 1;
        land(version, same.epoch, same.owner, same.next, made);
        version = 0;
        same.epoch = 0;
        same.owner = 0;
        same.next = 0;
        made = false
       }
    :: break
    od
}

/* What is late arrives at some time, or never. */
active proctype network()
{
    bool made;

end:
    do
    :: atomic {
        late[1].version != 0 ->
        land(late[1].version, late[1].epoch, late[1].owner, late[1].next, made);
        late[1].version = 0;
        late[1].epoch = 0;
        late[1].owner = 0;
        late[1].next = 0;
        made = false
       }
    :: atomic {
        late[2].version != 0 ->
        land(late[2].version, late[2].epoch, late[2].owner, late[2].next, made);
        late[2].version = 0;
        late[2].epoch = 0;
        late[2].owner = 0;
        late[2].next = 0;
        made = false
       }
    od
}

/* Deletes a manifest whose next one in the listing is older than Y. */
#ifdef EAGER
#define OLD true
#else
#define OLD (store[next].age > Y)
#endif

inline erase(v_)
{
    store[v_].is = false;
    store[v_].epoch = 0;
    store[v_].owner = 0;
    store[v_].next = 0;
    store[v_].age = 0
}

/* Whether there is a next one, and how old it is. */
#define NEXT_IS(v, w) (store[v].is && w <= VERSIONS && store[w].is)

proctype reclaimer()
{
    byte version, next;

end:
    do
    :: atomic {
        version = 1;
        do
        :: version < VERSIONS -> version++
        :: true -> break
        od;
        next = version + 1;
        do
        :: next < VERSIONS && !store[next].is -> next++
        :: else -> break
        od;
        if
        :: NEXT_IS(version, next) && OLD -> erase(version)
        :: else -> skip
        fi;
        version = 0;
        next = 0
       }
    od
}

/* All ages go up together. */
#define OLDER(a) a = (a < OLDEST -> a + 1 : a)

proctype clock()
{
    byte i;

end:
    do
    :: atomic {
        i = 1;
        do
        :: i <= VERSIONS ->
            if
            :: store[i].is -> OLDER(store[i].age)
            :: else -> skip
            fi;
            i++
        :: else -> break
        od;
        i = 1;
        do
        :: i <= 2 ->
            OLDER(reply[i]);
            OLDER(before[i]);
            OLDER(proof[i]);
            i++
        :: else -> break
        od;
        i = 0
       }
    od
}

init {
    atomic {
        run producer(1);
#ifdef RIVALS
        run producer(2)
#else
        run clock();
        run reclaimer()
#endif
    }
}
