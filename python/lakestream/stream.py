"""Streams: creating them and looking at them."""

import json

from . import _core, errors
from .batch import Batch
from .config import Handle, to_options

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
        _core.stream_create(str(url), dp, cp, texts)
    except errors.Exists:
        if not exist_ok:
            raise
        stream = _core.stream_open(str(url), texts)
        if (stream.dp, stream.cp) != (dp, cp):
            raise errors.Exists(
                f"{url}: the stream there has dp {stream.dp} x cp {stream.cp}, "
                f"not {dp} x {cp}") from None


class Stream(Handle):
    """A stream to look at: `Stream(url)`. May be used from any thread."""

    _kind = "Stream"

    def __init__(self, url, **options):
        super().__init__({"url": str(url), **options})
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
        """Yields {step, producer, epoch, seq, bytes, version} of each live step
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
