"""The run of a training job under torch.distributed. Importing this needs
PyTorch."""

import json
import os

import torch.distributed as dist

from . import errors
from .membership import Membership, named_run, shown_run


def _next_run(stream, group):
    shown = shown_run(json.loads(stream.info()), group)
    name, attempt = shown if shown else (group, -1)
    return f"{name}.{attempt + 1}"


def _agree(stream, group, run, skipped):
    """Rank 0 says for all which run it is, the next one if none was named, and
    which steps are left out."""
    said = [None]
    if dist.get_rank() == 0:
        try:
            said = [(run or _next_run(stream, group), skipped)]
        except errors.Error as error:
            said = [error]
    dist.broadcast_object_list(said, src=0)
    if isinstance(said[0], Exception):
        raise said[0]
    run, wanted = said[0]
    if skipped != wanted:
        raise errors.Invalid(
            f"rank {dist.get_rank()} skips other steps than rank 0: "
            f"{sorted(set(skipped) ^ set(wanted))[:10]}")
    return run


def join_group(stream, place, options, step, skipped):
    """The Membership of this rank; None without a group. `place`: (rank, dp,
    cp), which the stream can serve: what cannot read must not fence those that
    do."""
    if not (options.get("group") or os.environ.get("LAKESTREAM_GROUP")):
        return None
    rank, dp, cp = place
    group = options.get("group") or os.environ["LAKESTREAM_GROUP"]
    run = named_run(options)
    if dist.is_available() and dist.is_initialized():
        run = _agree(stream, group, run, skipped)
    member = Membership(stream, options, rank, dp * cp, run)
    if step is None:
        step = json.loads(stream.info())["first_live_step"]
    member.join(step)
    return member
