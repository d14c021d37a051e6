"""Batches in memory of the caller's, and writing into that of a batch."""

import ctypes
import gc
import mmap
import pickle
import subprocess
import sys
import threading
import time
import warnings
import weakref

import numpy
import pytest
import torch

import lakestream as ls
from lakestream.torch import StreamDataset

SIZES = (10, 100_000, 3_000_000)


class Arena:
    """An allocator that knows what it gave and what of it is still used."""

    def __init__(self, make, as_tensors=False):
        self._make, self._as_tensors = make, as_tensors
        self.given = []  # (begin, end)
        self._made = []
        self.fails = 0
        self._mutex = threading.Lock()

    def __call__(self, size):
        with self._mutex:
            if self.fails:
                self.fails -= 1
                raise RuntimeError("out of pinned memory")
        owner = self._make(size)
        begin = ctypes.addressof(ctypes.c_char.from_buffer(owner))
        with self._mutex:
            self.given.append((begin, begin + size))
            self._made.append(weakref.ref(owner))
        return torch.from_numpy(owner) if self._as_tensors else owner

    def alive(self):
        gc.collect()
        return [made for made in self._made if made() is not None]

    def has(self, address):
        return any(begin <= address < end for begin, end in self.given)


def locked_pages(size):
    """What mlock() keeps in memory."""
    pages = mmap.mmap(-1, size)
    libc = ctypes.CDLL(None, use_errno=True)
    begin = ctypes.addressof(ctypes.c_char.from_buffer(pages))
    if libc.mlock(ctypes.c_void_p(begin), ctypes.c_size_t(size)) != 0:
        pytest.skip("this user may not lock so much memory")
    return pages


def arrays(size):
    return numpy.empty(size, "uint8")


KINDS = {"numpy": (arrays,), "torch": (arrays, True), "mlock": (locked_pages,)}


@pytest.fixture
def url(url, fill):
    fill(url, 12, lambda step: [
        {"x": numpy.full(SIZES[step % 3], step, "uint8")}])
    return url


@pytest.mark.parametrize("kind", KINDS)
def test_batches_stand_there_and_all_is_let_go(url, kind):
    arena = Arena(*KINDS[kind])
    consumer = ls.Consumer(url, allocator=arena, prefetch_bytes="8MiB")
    kept = []
    for step, batch in enumerate(consumer):
        array = batch.tensors()["x"]
        assert arena.has(array.ctypes.data)
        assert len(array) == SIZES[step % 3] and (array == step).all()
        if step in (1, 11):
            kept.append(array)
        del array, batch
    consumer.close()
    del consumer
    assert arena.alive()
    assert [array[0] for array in kept] == [1, 11]
    kept.clear()
    assert not arena.alive()


def test_memory_is_used_again(place, fill):
    url = place + "/even"
    ls.create(url)
    fill(url, 300, lambda step: [bytes([step % 256]) * 5000])
    arena = Arena(arrays)
    with ls.Consumer(url, allocator=arena, prefetch_bytes="64KiB") as consumer:
        for batch in consumer:
            assert memoryview(batch) == bytes([batch.step % 256]) * 5000
    assert len(arena.given) < 40


def test_who_waits_is_never_in_an_allocator(place, fill):
    """It holds what others wait for, and is interrupted where it waits."""
    url = place + "/slow"
    ls.create(url)
    fill(url, 60, lambda step: [bytes(100_000)])
    threads = []

    def slow(size):
        threads.append(threading.get_ident())
        time.sleep(0.001)
        return numpy.empty(size, "uint8")

    kept = []
    with ls.Consumer(url, allocator=slow) as consumer:
        kept.extend(consumer)
    assert len(threads) >= 60 and threading.get_ident() not in threads


def test_a_dataset_passes_it_on(url):
    arena = Arena(arrays, True)
    dataset = StreamDataset(url, allocator=arena)
    batch = next(iter(dataset))
    assert arena.has(batch["x"].data_ptr())
    dataset.close()


def test_what_an_allocator_raises_is_told_and_may_pass(url):
    arena = Arena(arrays)
    arena.fails = 1000
    with ls.Consumer(url, allocator=arena) as consumer:
        with pytest.raises(MemoryError, match="out of pinned memory") as caught:
            next(consumer)
        assert isinstance(caught.value.__cause__, RuntimeError)
        arena.fails = 0
        seen = []
        while len(seen) < 12:
            try:  # what was asked for before may still fail
                seen.append(next(consumer).step)
            except MemoryError:
                pass
        assert seen == list(range(12))


@pytest.mark.parametrize("make, what", [
    (lambda size: bytes(size), "read-only"),
    (lambda size: bytearray(size - 1), "bytes and not"),
    (lambda size: None, "no contiguous buffer"),
    (lambda size: numpy.empty((size, 2), "uint8")[:, 0], "no contiguous buffer"),
])
def test_what_is_no_memory_is_refused(url, make, what):
    with ls.Consumer(url, allocator=make) as consumer:
        with pytest.raises(ls.Invalid, match=what):
            next(consumer)


def test_memory_that_is_in_use_is_refused(url):
    same = bytearray(4_000_000)
    with ls.Consumer(url, allocator=lambda size: same) as consumer:
        with pytest.raises(ls.Invalid, match="still in use"):
            kept = list(consumer)
            assert kept is None


def test_an_allocator_is_a_function(url):
    with pytest.raises(TypeError, match="allocator"):
        ls.Consumer(url, allocator=64)
    with pytest.raises(TypeError, match="allocator"):
        StreamDataset(url, allocator="pinned")


def test_it_goes_along_in_pickles(url):
    consumer = ls.Consumer(url, allocator=bytearray)
    next(consumer)
    copy = pickle.loads(pickle.dumps(consumer))
    assert [batch.step for batch in copy] == list(range(1, 12))


LEAVER = """
import sys
import lakestream as ls
consumer = ls.Consumer(sys.argv[1], allocator=bytearray, prefetch_bytes="64KiB")
batch = next(consumer)
print("taken")
"""


def test_a_process_may_end_with_all_of_it_open(place, fill):
    url = place + "/many"
    ls.create(url)
    fill(url, 500, lambda step: [bytes(5000)])
    for _ in range(5):
        run = subprocess.run([sys.executable, "-c", LEAVER, url], timeout=60,
                             capture_output=True, text=True)
        assert (run.returncode, run.stdout, run.stderr) == (0, "taken\n", "")


def test_tensors_may_be_written_to_and_arrays_not(url):
    with ls.Consumer(url) as consumer:
        first, second = next(consumer), next(consumer)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # torch's, on memory that is read-only
        tensor = first.tensors("torch")["x"]
        tensor += 7
    assert (first.tensors()["x"] == 7).all()
    assert (second.tensors()["x"] == 1).all()
    with pytest.raises(ValueError, match="read-only"):
        first.tensors()["x"][0] = 1
    assert memoryview(first).readonly
    with ls.Consumer(url) as consumer:  # nobody else sees what was written
        assert (next(consumer).tensors()["x"] == 0).all()


CLOSER = """
import gc, sys
import lakestream as ls
held = {}
def allocate(size):
    if sys.argv[2] == "close":
        held["consumer"].close()
    elif sys.argv[2] == "use":
        held["consumer"].load_state_dict(0)
    else:
        held.pop("consumer", None)
        gc.collect()
    return bytearray(size)
held["consumer"] = ls.Consumer(sys.argv[1], allocator=allocate,
                               prefetch_bytes="64KiB")
try:
    print(next(held["consumer"]).step)
except ls.Invalid as error:
    print(error)
if "consumer" in held:
    held["consumer"].close()
"""


@pytest.mark.parametrize("what, said", [
    ("close", "neither use nor close"), ("use", "neither use nor close"),
    ("drop", "0")])
def test_an_allocator_cannot_close_what_waits_for_it(url, what, said):
    run = subprocess.run([sys.executable, "-c", CLOSER, url, what], timeout=60,
                         capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, "")
    assert said in run.stdout


def test_a_consumer_may_go_in_its_allocator(place, fill):
    """While nobody waits for it, so that the callback has the last reference."""
    url = place + "/many"
    ls.create(url)
    fill(url, 40, lambda step: [bytes(50_000)])
    held, calls, armed, gone = [], [], threading.Event(), threading.Event()

    def allocate(size):
        calls.append(size)
        if len(calls) > 1:
            assert armed.wait(60)
            held.clear()
            gone.set()
        return bytearray(size)

    held.append(ls.Consumer(url, allocator=allocate, prefetch_bytes="64KiB"))
    batch = next(held[0])
    armed.set()
    assert gone.wait(60)
    assert bytes(memoryview(batch)) == bytes(50_000)


class Owner:
    """Its consumer's allocator is a method of its own."""

    def __init__(self, url):
        self.consumer = ls.Consumer(url, allocator=self.allocate)

    def allocate(self, size):
        return bytearray(size)


@pytest.mark.parametrize("closed", [False, True])
def test_a_method_as_an_allocator_is_no_leak(url, closed):
    owner = Owner(url)
    batch = next(owner.consumer)
    if closed:
        owner.consumer.close()
    gone = weakref.ref(owner)
    del owner
    gc.collect()
    assert gone() is None
    assert (batch.tensors()["x"] == 0).all()
