"""Lakestream: ordered, complete, replayable global batches for training runs,
kept in an object store and nothing else.

    import lakestream as ls

    ls.create("file:///data/run1", dp=2)
    with ls.Producer("file:///data/run1", "prep-0") as producer:
        producer.append([b"for rank 0", b"for rank 1"], offset=b"1")
    with ls.Consumer("file:///data/run1", rank=0) as consumer:
        batch = next(consumer)

`lakestream.torch` has the dataset for PyTorch's loaders.
"""

from . import errors
from ._core import version as _version
from .batch import Batch
from .consumer import Consumer
from .errors import (Cancelled, Corrupt, Denied, Ended, Error, Exists, Fenced,
                     Invalid, NotFound, Reclaimed, Starved, StoreError,
                     TimedOut, Unsupported)
from .producer import Producer
from .stream import Stream, create

__version__ = _version()

__all__ = [
    "Batch", "Cancelled", "Consumer", "Corrupt", "Denied", "Ended", "Error",
    "Exists", "Fenced", "Invalid", "NotFound", "Producer", "Reclaimed",
    "Starved", "StoreError", "Stream", "TimedOut", "Unsupported", "create",
    "errors",
]
