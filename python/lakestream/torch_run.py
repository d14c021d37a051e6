"""The run of a training job under torch.distributed. Importing this needs
PyTorch."""

import json
import os

import torch.distributed as dist

from . import errors
from .membership import Membership, shown_run

# A launcher that names its starts; the library knows these as well.
LAUNCHERS = ("TORCHELASTIC_RUN_ID", "SLURM_JOB_ID")


def _next_run(stream, group):
    shown = shown_run(json.loads(stream.info()), group)
    name, attempt = shown if shown else (group, -1)
    return f"{name}.{attempt + 1}"


def _agree(stream, group):
    """Rank 0 makes the next attempt of what the group shows, for all."""
    said = [None]
    if dist.get_rank() == 0:
        try:
            said = [_next_run(stream, group)]
        except errors.Error as error:
            said = [error]
    dist.broadcast_object_list(said, src=0)
    if isinstance(said[0], Exception):
        raise said[0]
    return said[0]


def _is_named(options):
    return bool(options.get("run") or os.environ.get("LAKESTREAM_RUN")
                or any(os.environ.get(name) for name in LAUNCHERS))


def join_group(open_stream, place, options, step):
    """The Membership of this rank; None without a group. Opens the stream only
    if it must."""
    if not (options.get("group") or os.environ.get("LAKESTREAM_GROUP")):
        return None
    stream = open_stream()
    rank, dp, cp = place.over(stream.dp, stream.cp)
    options = dict(options)
    member = Membership(stream, options, rank, dp * cp)
    if not _is_named(options):
        if dist.is_available() and dist.is_initialized():
            options["run"] = _agree(stream, member.group)
        elif dp * cp > 1:
            raise errors.Invalid(
                f"{dp * cp} ranks and no run: say run=, equal on all ranks and "
                "new at each start")
        else:
            options["run"] = _next_run(stream, member.group)
        member = Membership(stream, options, rank, dp * cp)
    if step is None:
        step = json.loads(stream.info())["first_live_step"]
    member.join(step)
    return member
