"""What the Python tests share: a folder in memory, and streams in it."""

import os
import tempfile

import pytest

import lakestream as ls


@pytest.fixture
def place():
    """A URL under which streams may be made."""
    root = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="lakestream-", dir=root) as folder:
        yield "file://" + folder


@pytest.fixture
def url(place):
    """A stream for one rank."""
    url = place + "/stream"
    ls.create(url)
    return url


@pytest.fixture
def fill():
    """fill(url, steps, slices(step) -> list): an ended stream."""
    def fill(url, steps, slices=lambda step: [b"step %d" % step], **keywords):
        with ls.Producer(url, "p") as producer:
            for step in range(steps):
                producer.append(slices(step), offset=b"%d" % step,
                                meta=b"meta %d" % step, **keywords)
            producer.finish()
    return fill
