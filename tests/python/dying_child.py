"""One rank of a job in which another is killed in the middle of a collective:
prints how its own collective and its dataset end.

    dying_child.py URL SECONDS
"""

import datetime
import json
import os
import signal
import sys
import time

import torch
import torch.distributed as dist

from lakestream.torch import StreamDataset, shared_batches


def outcome(function):
    begin = time.monotonic()
    try:
        function()
    except Exception as error:  # torch's own, of whatever kind
        return {"error": f"{type(error).__name__}: {error}",
                "seconds": time.monotonic() - begin}
    return {"error": None, "seconds": time.monotonic() - begin}


def main():
    url, seconds = sys.argv[1], float(sys.argv[2])
    dist.init_process_group(
        "gloo", timeout=datetime.timedelta(seconds=seconds))
    rank, last = dist.get_rank(), dist.get_world_size() - 1
    dataset = StreamDataset(url, group="job")
    batches = iter(dataset)
    for _ in range(3):
        total = next(batches)["x"].sum()
        dist.all_reduce(total)
    dist.barrier()
    if rank == last:
        os.kill(os.getpid(), signal.SIGKILL)

    said = {"collective": outcome(lambda: dist.all_reduce(torch.ones(1))),
            "peers": outcome(lambda: list(shared_batches(
                dataset if rank == 0 else None, source=0)))}
    # What needs no peer goes on as if nothing had happened.
    said["step"] = next(batches).step if rank != 0 else None
    said["saved"] = outcome(lambda: dataset.checkpointed(3))
    said["closed"] = outcome(dataset.close)
    print(json.dumps(said), flush=True)
    os._exit(0)  # torch's own shutdown waits for peers


if __name__ == "__main__":
    main()
