"""One rank of a test under torch.distributed; all ranks must print the same."""

import os
import sys

import torch.distributed as dist

import lakestream as ls
from lakestream.torch import StreamDataset, shared_batches


def failing():
    yield from ()
    raise ls.Reclaimed("gone")


def main():
    url = sys.argv[1]
    dist.init_process_group("gloo")
    rank = dist.get_rank()

    attempts = []
    for _ in range(2):
        dataset = StreamDataset(url, group="g")
        attempts.append(ls.Stream(url).info()["groups"][0]["attempt"])
        batch = next(iter(dataset))
        assert batch["x"].tolist() == [0, rank]
        dist.barrier()
        dataset.checkpointed(1)
        dist.barrier()
    print("runs", *attempts)
    print("checkpoint", ls.Stream(url).info()["groups"][0]["step"])

    try:
        StreamDataset(url, group="g", skip=[3] if rank == 0 else [4])
        refused = None
    except ValueError as error:
        refused = str(error)
    assert (rank == 0) == (refused is None)
    assert rank == 0 or "[(3, 4), (4, 5)]" in refused

    # Tensor-parallel peers: one of them reads.
    reader = StreamDataset(url, rank=1, dp=2, step=1)
    for batch in shared_batches(reader):
        assert reader.state_dict() == batch.state
        print("peer step", batch.step, batch["x"].tolist(), batch["u"].shape,
              batch.state["step"])
    try:
        for batch in shared_batches(failing() if rank == 0 else None):
            pass
    except ls.Error as error:
        print("peer error", type(error).__name__, error)
    sys.stdout.flush()
    os._exit(0)  # PyTorch 2.6's own end of gloo may wait for a peer for ever


if __name__ == "__main__":
    main()
