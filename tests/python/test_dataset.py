"""StreamDataset: what it hands out, its ranks, its workers and its state."""

import json
import os
import pathlib
import pickle
import signal
import socket
import subprocess
import sys

import numpy
import pytest
import torch
from torch.utils.data import DataLoader

import lakestream as ls
from lakestream.torch import StreamDataset

HERE = pathlib.Path(__file__).parent
pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")


@pytest.fixture
def url(url, fill):
    fill(url, 12, lambda step: [{"x": numpy.full((2, 3), step),
                                 "b": numpy.array([True, False])}])
    return url


def steps(batches):
    return [batch.step for batch in batches]


def test_batches_have_tensors_and_their_place(url):
    batch = next(iter(StreamDataset(url, meta=True, step=4)))
    assert (batch.step, batch.next_step, batch.meta) == (4, 5, b"meta 4")
    assert batch["x"].tolist() == [[4] * 3] * 2
    assert batch["b"].dtype == torch.bool
    assert set(batch) == {"x", "b"} and len(batch) == 2 and "x" in batch
    assert batch.to("cpu")["x"].sum() == 24
    copy = pickle.loads(pickle.dumps(batch))
    assert copy.state == {"version": 1, "stream": ls.Stream(url).id, "step": 5}


def test_raw_slices_and_functions(url):
    raw = next(iter(StreamDataset(url, decode="raw"))).slices[0]
    assert raw.dtype == torch.uint8
    assert raw.numpy().tobytes() == bytes(memoryview(next(ls.Consumer(url))))
    seen = list(StreamDataset(url, decode=lambda batch: batch.step * 2))
    assert seen == list(range(0, 24, 2))
    with pytest.raises(ValueError, match="decode"):
        StreamDataset(url, decode="jpeg")


@pytest.mark.parametrize("workers", [0, 1, 2, 4])
@pytest.mark.parametrize("skip", [(), (3, 4, (8, 11)), ((0, 2), 11)])
def test_workers_hand_out_the_same_order(url, workers, skip):
    dataset = StreamDataset(url, skip=skip)
    left_out = {s for item in skip
                for s in (range(*item) if isinstance(item, tuple) else [item])}
    loader = DataLoader(dataset, batch_size=None, num_workers=workers)
    assert steps(loader) == [s for s in range(12) if s not in left_out]


def test_the_state_counts_what_was_handed_out(url):
    dataset = StreamDataset(url)
    assert dataset.state_dict()["step"] == 0
    batches = iter(DataLoader(dataset, batch_size=None))
    for expected in range(1, 13):
        assert next(batches).next_step == expected
        assert dataset.state_dict()["step"] == expected
    assert next(batches, None) is None
    assert dataset.state_dict()["step"] == 12
    assert steps(dataset) == []
    dataset.load_state_dict(10)
    assert steps(dataset) == [10, 11]


def test_a_copy_that_did_not_read_does_not_lie(url):
    dataset = StreamDataset(url, step=2)
    loader = DataLoader(dataset, batch_size=None, num_workers=2)
    assert dataset.state_dict()["step"] == 2
    batch = next(iter(loader))
    with pytest.raises(ls.Error, match="batch.state"):
        dataset.state_dict()
    dataset.load_state_dict(batch.state)
    assert dataset.state_dict()["step"] == 3
    assert steps(loader) == list(range(3, 12))


def test_iterating_goes_on_where_a_state_says_meanwhile(url):
    dataset = StreamDataset(url)
    batches = iter(dataset)
    state = next(batches).state
    next(batches), next(batches)
    dataset.load_state_dict(state)
    assert next(batches).step == 1
    with pytest.raises(ValueError, match="of stream"):
        dataset.load_state_dict({**state, "stream": "f" * 32})


def test_it_pickles_and_forks(url):
    dataset = StreamDataset(url)
    next(iter(dataset))
    assert steps(pickle.loads(pickle.dumps(dataset)))[0] == 1
    child = os.fork()
    if child == 0:
        os._exit(0 if next(iter(dataset)).step == 1 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert next(iter(dataset)).step == 1


def test_ranks_must_be_told(url, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(ValueError, match="init_process_group"):
        StreamDataset(url)
    assert steps(StreamDataset(url, rank=0, dp=1)) == list(range(12))


@pytest.mark.parametrize("dp, workers", [(1, 0), (1, 3), (2, 3), (4, 3)])
def test_meshes_and_workers_together(place, fill, dp, workers):
    url = place + "/mesh"
    ls.create(url, dp=2)
    fill(url, 8, lambda step: [{"x": numpy.array([step, d])} for d in (0, 1)])
    group = max(1, dp // 2)
    for rank in range(dp):
        dataset = StreamDataset(url, rank=rank, dp=dp)
        loader = DataLoader(dataset, batch_size=None, num_workers=workers)
        seen = [(b.step, b.next_step, b["x"].tolist()) for b in loader]
        if dp == 1:
            wanted = [(s, s + 1, [s, 0, s, 1]) for s in range(8)]
        else:
            wanted = [(s, s + group, [s + rank // 2, rank % 2])
                      for s in range(0, 8, group)]
        assert seen == wanted


def launch(program, ranks, *arguments, ends=None):
    """The outputs of `ranks` processes under torch.distributed, which end with
    these codes; all well without."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        port = server.getsockname()[1]
    environment = {**os.environ, "MASTER_ADDR": "127.0.0.1",
                   "MASTER_PORT": str(port), "WORLD_SIZE": str(ranks),
                   "USE_LIBUV": "0"}  # which Debian builds without
    processes = [subprocess.Popen(
        [sys.executable, HERE / program, *arguments], text=True,
        env={**environment, "RANK": str(rank)}, stdout=subprocess.PIPE)
        for rank in range(ranks)]
    outputs = [process.communicate(timeout=300)[0] for process in processes]
    assert [process.returncode for process in processes] == (
        ends or [0] * ranks)
    return outputs


def test_ranks_of_torch_distributed_share_a_run_and_a_batch(place, fill):
    url = place + "/dist"
    ls.create(url, dp=2)
    fill(url, 6, lambda step: [
        {"x": numpy.array([step, d]), "u": numpy.zeros((d, 2), "uint8")}
        for d in (0, 1)])
    outputs = launch("ranks_child.py", 2, url)
    assert outputs[0].splitlines() == outputs[1].splitlines()
    assert "runs 0 1" in outputs[0] and "peer step 5" in outputs[0]
    assert "peer error Reclaimed" in outputs[0]


def test_a_killed_rank_leaves_the_others_an_error_and_no_wait(place, fill):
    url = place + "/dying"
    ls.create(url, dp=3)
    fill(url, 9, lambda step: [{"x": numpy.array([step, d])} for d in range(3)])
    outputs = launch("dying_child.py", 3, url, "20",
                     ends=[0, 0, -signal.SIGKILL])
    for output in outputs[:2]:
        said = json.loads(output)
        assert "gloo" in said["collective"]["error"].lower(), said
        # Lost connections are seen at once; what is not, by the time-out.
        assert said["collective"]["seconds"] < 60, said
        assert said["peers"]["error"] is not None, said
        assert said["peers"]["seconds"] < 60, said
        assert said["saved"]["error"] is None, said
        assert said["closed"]["error"] is None, said
        assert said["closed"]["seconds"] < 10, said
