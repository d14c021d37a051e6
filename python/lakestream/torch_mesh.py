"""Which rank this process is: from arguments, a DeviceMesh, or
torch.distributed. Importing this needs PyTorch."""

from dataclasses import dataclass
import math
import os

import torch.distributed as dist

from . import errors


@dataclass(frozen=True)
class Place:
    """rank = d * cp + c; dp and cp may be None: the stream's own. `world`: dp
    is that divided by cp."""

    rank: int
    dp: int = None
    cp: int = None
    world: int = None

    def over(self, stream_dp, stream_cp):
        """(rank, dp, cp) over a stream of this mesh."""
        if self.world is None:
            return (self.rank, stream_dp if self.dp is None else self.dp,
                    stream_cp if self.cp is None else self.cp)
        cp = math.gcd(self.world, stream_cp) if self.cp is None else self.cp
        if self.world % cp != 0:
            raise errors.Invalid(f"{self.world} ranks are no multiple of cp {cp}")
        if self.dp is not None and self.dp * cp != self.world:
            raise errors.Invalid(f"dp {self.dp} x cp {cp} is not the number of "
                                 f"ranks, {self.world}")
        return self.rank, self.world // cp, cp


def _of_mesh(mesh, dp_dim, cp_dim):
    names = mesh.mesh_dim_names or ()
    if dp_dim not in names:
        raise errors.Invalid(f"the mesh has no dimension {dp_dim!r}, only "
                             f"{', '.join(map(repr, names)) or 'unnamed ones'}")
    cp, c = 1, 0
    if cp_dim in names:
        cp, c = mesh.size(names.index(cp_dim)), mesh.get_local_rank(cp_dim)
    dp, d = mesh.size(names.index(dp_dim)), mesh.get_local_rank(dp_dim)
    return Place(d * cp + c, dp, cp)


def find_place(rank, dp, cp, mesh, dp_dim, cp_dim):
    """Arguments win over the mesh, the mesh over torch.distributed. Ranks that
    differ in other dimensions of a mesh (tensor, pipeline) read the same."""
    if mesh is not None:
        if rank is not None or dp is not None or cp is not None:
            raise errors.Invalid("either mesh, or rank with dp and cp")
        return _of_mesh(mesh, dp_dim, cp_dim)
    if rank is not None:
        return Place(rank, dp, cp)
    if dist.is_available() and dist.is_initialized():
        return Place(dist.get_rank(), dp, cp, dist.get_world_size())
    world = int(os.environ.get("WORLD_SIZE", "1"))
    if world > 1:
        raise errors.Invalid(
            f"WORLD_SIZE is {world}, but torch.distributed is not initialised: "
            "call init_process_group() first, or say rank=, dp=, cp=")
    return Place(0, dp, cp, 1)
