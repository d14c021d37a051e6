"""Consumers: one rank's cursor over a stream."""

import json

from . import _core, errors, mesh
from .batch import Batch, JoinedBatch
from .config import (STARVE, Handle, as_url, check_place, starve_timeout_ms,
                     to_options, whole)
from .membership import Membership
from .memory import Lender, check_allocator, close_at_exit

STATE_VERSION = 1


def _is_parents(stream, parent, step):
    """A state of the stream that this one was forked from, there."""
    lineage = json.loads(stream.info()).get("lineage", ())
    return any((row["stream"], row["step"]) == (parent, step) for row in lineage)


def state_step(state, stream):
    """The step of a state, which must be of this stream; or a bare step."""
    if hasattr(state, "__index__") and not isinstance(state, bool):
        return whole("step", state)
    try:
        version, of_stream = state["version"], state["stream"]
        step = state["step"]
    except (TypeError, KeyError):
        raise errors.Invalid(f"not a state of a consumer: {state!r}") from None
    step = whole("step", step)
    if version != STATE_VERSION:
        raise errors.Unsupported(f"a state of version {version}, which is newer")
    if of_stream != stream.id and not _is_parents(stream, of_stream, step):
        raise errors.Invalid(
            f"the state is of stream {of_stream}, not of {stream.id}")
    return step


def check_not_behind_end(stream, step):
    """A wrong checkpoint must not look like a run that is finished."""
    info = json.loads(stream.info())
    if info["ended"] and step > info["ended_at"]:
        raise errors.Invalid(
            f"step {step} is behind the end of the stream, which ended at "
            f"{info['ended_at']}")


class Reader:
    """Several consumers of the library that move together as one. It waits for
    a step only while `parent` is this process's, if it is not 0."""

    def __init__(self, stream, share, step, options, stride=1,
                 member=None, allocator=None, parent=0):
        self.stream, self.share, self.stride = stream, share, stride
        self._parent = parent
        options = dict(options)
        self._timeout_ms = starve_timeout_ms(options)
        self.plain = (len(share.parts) == 1 and share.piece[1] == 1
                      and stride == 1)
        self._member = member
        if member is not None:
            options["group"] = ""
            member.join(step if step is not None else json.loads(
                stream.info())["first_live_step"])
        options[STARVE] = str(_core.TURN_MS)
        if len(share.parts) > 1 and "prefetch_bytes" in options:
            options["prefetch_bytes"] = _part_of(options["prefetch_bytes"],
                                                 len(share.parts))
        self.allocator = allocator
        self._lender = Lender(self) if allocator is not None else None
        self._parts = [stream.consumer(*part, step, options, self._lender)
                       for part in share.parts]
        if self._lender is not None:
            close_at_exit(self)
        self._taken = []  # of the step that is being put together

    @property
    def step(self):
        """The next to hand out, whatever is taken already."""
        return self._taken[0].step if self._taken else self._parts[0].step

    def _take(self, part):
        try:
            return part.next(Batch, self._timeout_ms, self._parent)
        except MemoryError:
            if self._lender is not None:
                self._lender.tell()
            raise

    def next(self):
        if self.plain:
            return self._take(self._parts[0])
        for part in self._parts[len(self._taken):]:
            self._taken.append(self._take(part))
        taken, self._taken = self._taken, []
        return JoinedBatch(taken, self.share)

    def seek(self, step):
        if self._member is not None:
            self._member.check(step)
        self._taken = []
        state = json.dumps({"version": STATE_VERSION, "stream": self.stream.id,
                            "step": step})
        for part in self._parts:
            part.restore(state)

    def checkpointed(self, step, oldest_kept):
        if self._member is None:
            self._parts[0].checkpointed(step, oldest_kept)
        else:
            self._member.checkpointed(step, oldest_kept)

    def stats(self):
        stats = [json.loads(part.stats()) for part in self._parts]
        total = {name: sum(each[name] for each in stats) for name in stats[0]}
        total["steps"] = stats[0]["steps"]
        total["longest_wait_ms"] = max(s["longest_wait_ms"] for s in stats)
        return total

    def close(self):
        for part in self._parts:
            part.close()


def _part_of(size, count):
    """A size option ("64KiB") divided among `count`."""
    for unit, shift in (("KiB", 10), ("MiB", 20), ("GiB", 30)):
        if size.endswith(unit):
            size = int(size[:-len(unit)]) << shift
            break
    return str(max(int(size) // count, 64 << 10))


class Consumer(Handle):
    """One rank's cursor: iterating hands out its slices step by step, in the
    one order that all ranks see, until the stream ends.

    url             of the stream
    rank            d * cp + c in the mesh dp x cp
    dp, cp          this run's mesh; None is the stream's own. dp may divide the
                    stream's or be a multiple; so may cp, for payloads with a
                    declared axis.
    step            the stream step to begin at; None is the first live one
    group           the training job this rank is one of: the stream keeps what
                    it may replay. None retains nothing.
    run             this start of the job, "ID.ATTEMPT": equal on all ranks, new
                    at each start. None: torchelastic's or Slurm's.
    prefetch_bytes  what may be fetched ahead (a number, or "64MiB")
    starve_timeout  seconds to wait for a step before Starved is raised (300)
    allocator       where batches stand: a function of a number of bytes that
                    returns a writable buffer or CPU tensor with as many. Called
                    in other threads; its memory is used again and again, and
                    let go with the last batch. None: the heap.
    options         the library's, by name: fetches, poll_ms, ...

    Raises FileNotFoundError without a stream, ValueError for a mesh that does
    not divide or a step behind the end, Reclaimed below the first live step.
    """

    _kind = "Consumer"

    def __init__(self, url, rank=0, dp=None, cp=None, step=None, group=None,
                 run=None, allocator=None, **options):
        rank, dp, cp, step = check_place(rank, dp, cp, step, group)
        check_allocator(allocator)
        super().__init__({"url": as_url(url), "rank": rank, "dp": dp, "cp": cp,
                          "step": step, "group": group, "run": run,
                          "allocator": allocator, **options})
        self._restored()
        self._handle()

    def _restored(self):
        self._next = None

    def _open(self):
        keywords = dict(self._config)
        url, rank, dp, cp, step, allocator = (
            keywords.pop(name) for name in
            ("url", "rank", "dp", "cp", "step", "allocator"))
        options = to_options(keywords)
        stream = _core.stream_open(url, options)
        share = mesh.share(stream.dp, stream.cp, rank, dp, cp)
        if step is not None:
            check_not_behind_end(stream, step)
        member = None
        if len(share.parts) > 1 or share.piece[1] > 1:
            member = Membership(stream, options, rank,
                                (dp or stream.dp) * (cp or stream.cp))
            member = member if member.group else None
        reader = Reader(stream, share, step, options, member=member,
                        allocator=allocator)
        self._next = reader.next
        return reader

    def _current_config(self):
        if self._opened is None:
            return self._config
        return {**self._config, "step": self._opened.step}

    def _close(self, opened):
        opened.close()
        self._next = None
        self._config = {**self._config, "step": opened.step}

    def __iter__(self):
        return self

    def __next__(self):
        """The next batch. Raises Starved, which names the step and the newest
        manifest; Reclaimed; Corrupt; StoreError."""
        take = self._next
        if take is None:
            take = self._handle().next
        try:
            return take()
        except errors.Ended:
            raise StopIteration from None

    @property
    def step(self):
        """The next stream step to hand out, whatever was prefetched."""
        return self._handle().step

    @property
    def stream_id(self):
        """32 hex digits."""
        return self._handle().stream.id

    def state_dict(self):
        """{"version": 1, "stream": id, "step": n}: the same for all ranks and
        meshes; n is the next stream step to hand out."""
        reader = self._handle()
        return {"version": STATE_VERSION, "stream": reader.stream.id,
                "step": reader.step}

    def load_state_dict(self, state):
        """Continues at a state's step, or at a bare step. ValueError for
        another stream's state or a step behind the end, Reclaimed if the
        step is gone."""
        reader = self._handle()
        step = state_step(state, reader.stream)
        check_not_behind_end(reader.stream, step)
        reader.seek(step)

    def checkpointed(self, step, oldest_kept=None):
        """Says that the training checkpoint at `step` is durable: call it once
        the save is. Steps below `step` are not needed by this rank any more; or
        below `oldest_kept`, for those who keep older checkpoints too.

        Raises Fenced if another run took over, ValueError without a group.
        """
        self._handle().checkpointed(step, oldest_kept)

    def stats(self):
        """Counters since opening: steps, bytes, bytes_needed, bytes_fetched,
        polls, gets, lists, wait_ms, longest_wait_ms."""
        return self._handle().stats()
