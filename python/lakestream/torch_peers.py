"""Tensor- and pipeline-parallel peers need the same batch: one reads it, and
broadcasts. Importing this needs PyTorch."""

import torch
import torch.distributed as dist

from . import errors
from .torch_batch import TensorBatch


def _send(values, source, group, device):
    dist.broadcast_object_list(values, src=source, group=group, device=device)
    return values[0]


def _describe(batch):
    kinds = [[(name, tensor.dtype, tuple(tensor.shape))
              for name, tensor in batch.items()],
             [(None, tensor.dtype, tuple(tensor.shape))
              for tensor in batch.slices]]
    return ("batch", batch.step, batch.next_step, batch.stream_id, batch.meta,
            kinds)


def _broadcast(tensor, source, group):
    """As bytes, since not every backend knows every type."""
    if tensor.numel() > 0:
        flat = tensor.reshape(-1).view(torch.uint8)
        dist.broadcast(flat, src=source, group=group)


def _receive(word, source, group, device):
    _, step, next_step, stream_id, meta, kinds = word
    tensors = [[(name, torch.empty(shape, dtype=dtype, device=device))
                for name, dtype, shape in kind] for kind in kinds]
    for kind in tensors:
        for _, tensor in kind:
            _broadcast(tensor, source, group)
    return TensorBatch(step, next_step, stream_id, dict(tensors[0]),
                       [tensor for _, tensor in tensors[1]], meta)


def _read_and_send(batches, source, group, device):
    for batch in batches:
        _send([_describe(batch)], source, group, device)
        if device is not None:
            batch = batch.to(device)
        for tensor in (*batch.tensors.values(), *batch.slices):
            _broadcast(tensor.contiguous(), source, group)
        yield batch


def shared_batches(batches, group=None, source=None, device=None):
    """Yields the same TensorBatch on all ranks of `group`.

    batches   what the reading rank iterates: a StreamDataset or a loader. The
              others need none. A dataset of theirs does not read, but its
              state is that of the reader's.
    source    the global rank that reads; None is the group's first
    device    where the tensors go; a CUDA device for NCCL, None for gloo

    Ends on all at once. An error while reading is raised on all, so that none
    waits for one that is gone.
    """
    if source is None:
        source = 0 if group is None else dist.get_process_group_ranks(group)[0]
    if dist.get_rank() == source:
        try:
            yield from _read_and_send(batches, source, group, device)
        except Exception as error:
            _send([("error", type(error).__name__, str(error))], source, group,
                  device)
            raise
        _send([("end",)], source, group, device)
        return
    dataset = getattr(batches, "dataset", batches)
    while True:
        word = _send([None], source, group, device)
        if word[0] == "end":
            return
        if word[0] == "error":
            raise getattr(errors, word[1], errors.Error)(word[2])
        batch = _receive(word, source, group, device)
        if hasattr(dataset, "follow"):
            dataset.follow(batch.next_step)
        yield batch
