"""One rank of a mesh of dp 2 x tp 2: prints what it read, and what its group of
tensor-parallel peers shared."""

import json
import os
import sys

import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh

from lakestream.torch import StreamDataset, shared_batches


def main():
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
    seen = [batch["x"].tolist()
            for batch in StreamDataset(sys.argv[1], mesh=mesh)]
    group = mesh.get_group("tp")
    reader = None
    if mesh.get_local_rank("tp") == 0:
        reader = StreamDataset(sys.argv[1], mesh=mesh)
    seen += [batch["x"].tolist()
             for batch in shared_batches(reader, group=group)]
    print(json.dumps(seen))
    sys.stdout.flush()
    os._exit(0)  # PyTorch 2.6's own end of gloo may wait for a peer for ever


if __name__ == "__main__":
    main()
