"""The resume matrix: DataLoader workers x start method x where it is saved,
resumed twice, always in a fresh process. What the three processes read is what
an uninterrupted run reads.

A pairwise dozen; all combinations with LAKESTREAM_TEST_MATRIX=all.
"""

import itertools
import json
import os
import pathlib
import subprocess
import sys

import numpy
import pytest

import lakestream as ls

CHILD = pathlib.Path(__file__).with_name("loader_child.py")
STEPS, SKIPPED = 20, (7, 8)
WANTED = [step for step in range(STEPS) if step not in SKIPPED]
SAVES = {"0": 0, "first": 1, "middle": 9, "last": len(WANTED) - 1,
         "end": len(WANTED)}
WORKERS = (0, 1, 4)
STARTS = ("fork", "forkserver", "spawn")

# Each pair of values of two columns is in one row at least.
DOZEN = [
    (0, "fork", "0"), (0, "fork", "middle"), (0, "fork", "end"),
    (1, "fork", "first"), (1, "forkserver", "middle"), (1, "spawn", "last"),
    (4, "fork", "last"), (4, "fork", "middle"), (4, "forkserver", "0"),
    (4, "forkserver", "end"), (4, "spawn", "first"), (4, "spawn", "end"),
]


def cases():
    if os.environ.get("LAKESTREAM_TEST_MATRIX") == "all":
        return list(itertools.product(WORKERS, STARTS, SAVES))
    return DOZEN


def loaders():
    try:
        import torchdata.stateful_dataloader  # noqa: F401
    except ImportError:
        return ["plain"]
    return ["plain", "stateful"]


@pytest.fixture(scope="module")
def stream(tmp_path_factory):
    url = "file://" + str(tmp_path_factory.mktemp("matrix") / "stream")
    ls.create(url, durability="none")
    with ls.Producer(url, "p", durability="none") as producer:
        for step in range(STEPS):
            producer.append([{"x": numpy.arange(step, step + 100)}])
        producer.finish()
    return url


def read(url, workers, start, loader, state, count):
    run = subprocess.run(
        [sys.executable, CHILD, url, str(workers), start, loader,
         json.dumps(state), str(count)],
        capture_output=True, text=True, timeout=1200)
    assert run.returncode == 0, run.stderr
    *lines, last = run.stdout.splitlines()
    return lines, json.loads(last.removeprefix("state "))


@pytest.fixture(scope="module")
def whole(stream):
    lines, _ = read(stream, 0, "fork", "plain", None, STEPS)
    assert [int(line.split()[0]) for line in lines] == WANTED
    return lines


@pytest.mark.parametrize("loader", loaders())
@pytest.mark.parametrize("workers, start, save", cases())
def test_resumed_twice_reads_the_same(stream, whole, workers, start, save,
                                      loader):
    first, state = read(stream, workers, start, loader, None, SAVES[save])
    second, state = read(stream, workers, start, loader, state, 3)
    third, _ = read(stream, workers, start, loader, state, STEPS)
    assert len(first) == SAVES[save]
    if loader == "stateful" and workers > 0 and SAVES[save] + 3 > len(WANTED):
        # The second met the end; torchdata then begins another epoch.
        assert (first + second, third) == (whole, whole)
    else:
        assert first + second + third == whole
