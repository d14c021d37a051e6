"""What StreamDataset hands out: tensors by name, and where in the stream they
stand. Importing this needs PyTorch."""

import torch
from torch.utils.data._utils.collate import default_collate_fn_map

from . import consumer


class TensorBatch:
    """One rank's tensors of one training step: `batch["tokens"]`.

    step, next_step   its first stream step, and the one after it
    tensors           a dict of torch tensors by name (empty if decode is "raw")
    slices            raw slices as 1-d uint8 tensors (if decode is "raw")
    meta              the producer's bytes, if the dataset was asked for them
    state             what to save to go on after this batch

    It goes through DataLoader workers, pinning and pickles as it is.
    """

    def __init__(self, step, next_step, stream_id, tensors, slices=(), meta=None):
        self.step, self.next_step, self.stream_id = step, next_step, stream_id
        self.tensors, self.slices, self.meta = tensors, list(slices), meta

    @property
    def state(self):
        """{"version": 1, "stream": id, "step": next_step}"""
        return {"version": consumer.STATE_VERSION, "stream": self.stream_id,
                "step": self.next_step}

    def map(self, function):
        """The same batch with function(tensor) for each tensor."""
        return TensorBatch(
            self.step, self.next_step, self.stream_id,
            {name: function(t) for name, t in self.tensors.items()},
            [function(t) for t in self.slices], self.meta)

    def pin_memory(self, device=None):
        """In page-locked memory. DataLoader(pin_memory=True) calls it."""
        return self.map(lambda tensor: tensor.pin_memory())

    def to(self, device, non_blocking=False):
        """On another device."""
        return self.map(
            lambda tensor: tensor.to(device, non_blocking=non_blocking))

    def __getitem__(self, name):
        return self.tensors[name]

    def __contains__(self, name):
        return name in self.tensors

    def __iter__(self):
        return iter(self.tensors)

    def __len__(self):
        return len(self.tensors)

    def keys(self):
        """The names."""
        return self.tensors.keys()

    def items(self):
        """(name, tensor) pairs."""
        return self.tensors.items()

    def __repr__(self):
        shapes = ", ".join(f"{name}: {tuple(t.shape)} {t.dtype}"
                           for name, t in self.tensors.items())
        return f"<TensorBatch step {self.step}, {shapes or self.slices}>"


def _refuse_to_collate(batches, *, collate_fn_map=None):
    raise TypeError("a stream's step is a batch already: say "
                    "DataLoader(dataset, batch_size=None)")


# As the documentation of default_collate() says.
default_collate_fn_map[TensorBatch] = _refuse_to_collate


def as_bytes(buffer):
    """A slice as a 1-d uint8 tensor in its memory."""
    if len(memoryview(buffer)) == 0:
        return torch.empty(0, dtype=torch.uint8)
    return torch.frombuffer(buffer, dtype=torch.uint8)
