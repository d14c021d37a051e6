"""Streams: creating them and looking at them."""

import json

from . import _core, errors
from .batch import Batch
from .config import Handle, as_url, to_options

LOG_STEPS = 4096  # per call of the library


def create(url, dp=1, cp=1, producers=None, exist_ok=False, **options):
    """Creates the stream at `url` for a mesh of dp x cp ranks, having probed
    the store.

    producers   how many must finish for the stream to end (1)
    exist_ok    accept a stream that is there, with the same mesh
    options     max_live_steps, max_live_bytes, and what concerns the store

    Raises FileExistsError if the prefix holds a stream or held one once,
    Unsupported if the store does not keep the promises that are needed.
    """
    texts = to_options({"producers": producers, **options})
    try:
        _core.stream_create(as_url(url), dp, cp, texts)
    except errors.Exists:
        if not exist_ok:
            raise
        stream = _core.stream_open(as_url(url), texts)
        if (stream.dp, stream.cp) != (dp, cp):
            raise errors.Exists(
                f"{url}: the stream there has dp {stream.dp} x cp {stream.cp}, "
                f"not {dp} x {cp}") from None


class Stream(Handle):
    """A stream to look at: `Stream(url)`. May be used from any thread."""

    _kind = "Stream"

    def __init__(self, url, **options):
        super().__init__({"url": as_url(url), **options})
        self._handle()

    def _restored(self):
        pass

    def _open(self):
        keywords = dict(self._config)
        url = keywords.pop("url")
        return _core.stream_open(url, to_options(keywords))

    def _close(self, opened):
        pass  # by its last reference, as batches may have one

    @property
    def dp(self):
        """DP ranks that the stream was created for."""
        return self._handle().dp

    @property
    def cp(self):
        """CP ranks that the stream was created for."""
        return self._handle().cp

    @property
    def id(self):
        """32 hex digits."""
        return self._handle().id

    def info(self):
        """What the newest manifest says: next_step, first_live_step, ended,
        producers, groups, pins, live_bytes, ..."""
        return json.loads(self._handle().info())

    def log(self, start=0, stop=None):
        """Yields {step, producer, epoch, seq, bytes, version, object} of each live step
        of [start, stop); without `stop` up to the newest at the call."""
        handle = self._handle()
        info = self.info()
        start = max(start, info["first_live_step"])
        stop = min(info["next_step"], info["next_step"] if stop is None else stop)
        while start < stop:
            end = min(stop, start + LOG_STEPS)
            for line in handle.log(start, end).splitlines():
                yield json.loads(line)
            start = end

    def get(self, step, rank):
        """One slice of one step, as a Batch, without a consumer."""
        return self._handle().get(step, rank, Batch)

    def verify(self, data=False):
        """Checks all that stored objects can show, with `data` every byte.
        Returns {ok, steps, blocks, bytes, problems: [text]}."""
        return json.loads(self._handle().verify(data))

    def seal(self, **options):
        """Ends the stream after what is committed. Idempotent."""
        self._handle().seal(to_options(options))

    def pin(self, name, step, **options):
        """Holds `step` and all after it until unpin(); moves a pin of that
        name. Reclaimed below the first live step."""
        self._handle().pin(name, step, to_options(options))

    def unpin(self, name, **options):
        """Lets the pin go. FileNotFoundError if there is none."""
        self._handle().unpin(name, to_options(options))

    def watermark(self, group, ranks, rank, step, **options):
        """Publishes that rank `rank` of `ranks` of the group may still replay
        `step` and later ones, and nothing below. run: the run to join; without
        it the one that the group shows."""
        self._handle().watermark(group, ranks, rank, step, to_options(options))

    def limit(self, max_live_steps=None, max_live_bytes=None, **options):
        """Changes the limits; None leaves one as it is, 0 is none. Producers
        wait while one is reached."""
        self._handle().limit(max_live_steps, max_live_bytes,
                             to_options(options))

    def evict(self, group=None, rank=None, producer=None, **options):
        """Evicts a group, one rank of it, or a producer that will not come
        back."""
        if (group is None) == (producer is None):
            raise errors.Invalid("evict either a group or a producer")
        if producer is not None:
            self._handle().evict_producer(producer, to_options(options))
        else:
            self._handle().evict_group(group, rank, to_options(options))

    def reclaim(self, dry_run=False, **options):
        """Deletes what no group and no pin needs. May be done by anyone, any
        number at once. Returns {first_live_step, held_by, removed, ...}."""
        return json.loads(self._handle().reclaim(dry_run, to_options(options)))

    def fork(self, step, url, **options):
        """Creates the stream at `url` that continues this one at `step`, and
        returns it. A state of this one at that step is a state of the fork."""
        self._handle().fork(step, as_url(url), to_options(options))
        return Stream(url, **{k: v for k, v in self._config.items()
                              if k != "url"})

    def drop(self, force=False, **options):
        """Ends the stream and deletes it, but for what keeps the prefix from
        being used again. ValueError while there are pins, unless `force`."""
        return json.loads(self._handle().drop(force, to_options(options)))
