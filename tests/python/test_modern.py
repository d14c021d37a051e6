"""What only newer PyTorchs have: distributed checkpoints, device meshes, fp8 and
unsigned tensors, StatefulDataLoader. Skipped where it is not there."""

import json
import os
import pathlib
import socket
import subprocess
import sys

import numpy
import pytest
import torch

import lakestream as ls
from lakestream.torch import StreamDataset

HERE = pathlib.Path(__file__).parent
pytestmark = [
    pytest.mark.skipif(torch.__version__ < "2.2", reason="needs PyTorch 2.2"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),
]


@pytest.fixture
def url(url, fill):
    fill(url, 10, lambda step: [{"x": numpy.full(4, step, "uint16"),
                                 "y": torch.ones(3).to(torch.float8_e4m3fn)}])
    return url


def test_unsigned_and_small_floats_are_not_copied(url):
    batch = next(iter(StreamDataset(url, step=3)))
    assert batch["y"].dtype == torch.float8_e4m3fn
    if hasattr(torch, "uint16"):
        assert batch["x"].dtype == torch.uint16
        assert batch["x"].int().tolist() == [3] * 4


def test_distributed_checkpoints_hold_the_position(url, tmp_path):
    dcp = pytest.importorskip("torch.distributed.checkpoint")
    dataset = StreamDataset(url)
    batches = iter(dataset)
    for _ in range(4):
        next(batches)
    dcp.save({"data": dataset}, checkpoint_id=tmp_path)
    next(batches)
    fresh = StreamDataset(url)
    dcp.load({"data": fresh}, checkpoint_id=tmp_path)
    assert [batch.step for batch in fresh] == list(range(4, 10))
    dcp.load({"data": dataset}, checkpoint_id=tmp_path)
    assert next(batches).step == 4


@pytest.mark.parametrize("workers", [0, 1, 3])
@pytest.mark.parametrize("save", [0, 1, 5, 9, 10])
def test_stateful_loaders_go_on(url, workers, save):
    stateful = pytest.importorskip("torchdata.stateful_dataloader")

    def loader():
        return stateful.StatefulDataLoader(
            StreamDataset(url), batch_size=None, num_workers=workers)

    first = loader()
    batches = iter(first)
    seen = [next(batches).step for _ in range(save)]
    state = json.loads(json.dumps(first.state_dict()))
    del batches
    second = loader()
    second.load_state_dict(state)
    assert seen + [batch.step for batch in second] == list(range(10))


def test_a_device_mesh_tells_the_rank(place, fill):
    url = place + "/mesh"
    ls.create(url, dp=2)
    fill(url, 3, lambda step: [{"x": numpy.array([step, d])} for d in (0, 1)])
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        port = server.getsockname()[1]
    environment = {**os.environ, "MASTER_ADDR": "127.0.0.1",
                   "MASTER_PORT": str(port), "WORLD_SIZE": "4",
                   "USE_LIBUV": "0"}
    ranks = [subprocess.Popen(
        [sys.executable, HERE / "mesh_child.py", url], text=True,
        env={**environment, "RANK": str(rank)}, stdout=subprocess.PIPE)
        for rank in range(4)]
    outputs = [rank.communicate(timeout=300)[0] for rank in ranks]
    assert [json.loads(output) for output in outputs] == [
        [[step, rank // 2] for step in range(3)] * 2 for rank in range(4)]
