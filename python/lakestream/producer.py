"""Producers: appending global batches."""

from collections.abc import Mapping
import json

from . import _core, errors, payload
from .config import Handle, as_url, to_options

# After these nothing more of the producer's can be committed.
FINAL = (errors.Ended, errors.Fenced, errors.StoreError, errors.Corrupt,
         errors.Unsupported, errors.Cancelled)


class Producer(Handle):
    """A worker's place in a stream. Opening fences every earlier holder of the
    id.

    As a context, a normal exit flushes, unless a call has raised already that
    nothing more can be committed; an exception discards what is not committed,
    and the next incarnation uses its seqs again.

    url       of the stream: file:///folder, a plain path, s3://bucket/prefix
    id        1 to 64 of [A-Za-z0-9._-]; the same for ever for the same part of
              the input
    options   the library's, by name: producer_bytes, uploads, codec,
              flush_timeout (seconds), outage_timeout (seconds), ...

    Raises FileNotFoundError without a stream, ValueError for a bad id.
    """

    _kind = "Producer"

    def __init__(self, url, id, **options):
        super().__init__({"url": as_url(url), "id": id, **options})
        self._restored()
        self._handle()

    def _restored(self):
        self._stream = None
        self._done = False

    def _open(self):
        keywords = dict(self._config)
        url, id = keywords.pop("url"), keywords.pop("id")
        options = to_options(keywords)
        self._stream = _core.stream_open(url, options)
        return self._stream.producer(id, options)

    @property
    def offset(self):
        """The offset of the last committed TGB when this was opened, as bytes:
        where to go on in the source. None if there is none."""
        return self._handle().offset

    @property
    def next_seq(self):
        """The number of the next append, from 0."""
        return self._handle().next_seq

    def append(self, slices, offset=b"", meta=b"", *, cp_axis=None,
               cp_layout="contiguous"):
        """Appends one global batch: dp * cp slices, ordered by rank d * cp + c.

        slices    each a buffer (bytes, memoryview, array; C-contiguous), which
                  is not copied and must not change until it is committed; or a
                  dict of numpy arrays or torch tensors, which becomes a
                  safetensors blob
        offset    up to 256 bytes: the place in the source after this batch
        meta      up to 64 KiB for the readers (`batch.meta`)
        cp_axis   for dicts: the axis that was cut for context parallelism, so
                  that readers may have another cp. Tensors without it are the
                  same for all c.
        cp_layout how it was cut: "contiguous", or "zigzag" (of 2 * cp equal
                  chunks, c has the c-th and the c-th from the end)

        Blocks while producer_bytes are in flight or the stream is at its
        limit. Raises errors of earlier appends too; Ended, Fenced, StoreError,
        ValueError.
        """
        slices = list(slices)
        if cp_axis is not None and not all(isinstance(slice, Mapping)
                                           for slice in slices):
            raise errors.Invalid("cp_axis is for dicts: nobody can know where "
                                 "other slices were cut")
        for slice in slices:
            if not isinstance(slice, Mapping):
                payload.check_raw(slice)
        buffers = [payload.encode(slice, cp_axis=cp_axis, cp_layout=cp_layout)
                   if isinstance(slice, Mapping) else slice
                   for slice in slices]
        self._call(self._handle().append, buffers, offset, meta)

    def flush(self):
        """Returns when all appends are committed: visible, and durable as the
        store is. TimedOut after flush_timeout; it goes on behind."""
        self._call(self._handle().flush)

    def finish(self):
        """Flushes and marks the producer finished. The stream ends when as many
        producers as it was created for are. Only closing may follow."""
        self._call(self._handle().finish)
        self._done = True

    def _call(self, function, *arguments):
        try:
            function(*arguments)
        except FINAL:
            self._done = True  # who was told need not be told again at exit
            raise

    def stats(self):
        """Counters since opening: tgbs, bytes, commits, attempts, conflicts,
        append_to_visible_ms, blocked_ms, ..."""
        return json.loads(self._handle().stats())

    def __exit__(self, kind, value, traceback):
        try:
            if kind is None and not self._closed and not self._done:
                self.flush()
        finally:
            self.close()
