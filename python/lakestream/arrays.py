"""numpy and torch as far as payloads need them. Neither is imported before it
is asked for."""

import math
import sys

from . import errors

WIDTH = {
    "BOOL": 1, "U8": 1, "I8": 1, "F8_E4M3": 1, "F8_E5M2": 1,
    "U16": 2, "I16": 2, "F16": 2, "BF16": 2,
    "U32": 4, "I32": 4, "F32": 4,
    "U64": 8, "I64": 8, "F64": 8, "C64": 8,
}

NUMPY = {
    "BOOL": "bool", "U8": "uint8", "I8": "int8", "U16": "uint16",
    "I16": "int16", "F16": "float16", "U32": "uint32", "I32": "int32",
    "F32": "float32", "U64": "uint64", "I64": "int64", "F64": "float64",
    "C64": "complex64",
    # These need the package ml_dtypes.
    "BF16": "bfloat16", "F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2",
}
FROM_NAME = {name: dtype for dtype, name in NUMPY.items()}

# What a torch without the type gets instead: read as the first, made the second.
WIDER = {"U16": ("int16", "int32", 0xFFFF), "U32": ("int32", "int64", 0xFFFFFFFF)}


def _is_torch(value):
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def describe(name, value):
    """(dtype, shape, bytes) of a numpy array, torch tensor, or anything that
    numpy makes an array of."""
    if _is_torch(value):
        return _describe_torch(name, value)
    import numpy
    array = numpy.asarray(value)
    dtype = FROM_NAME.get(array.dtype.name)
    if dtype is None:
        raise errors.Invalid(f"{name!r}: safetensors has no type for "
                             f"{array.dtype}")
    if array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("<"))
    shape = array.shape
    array = numpy.ascontiguousarray(array).reshape(-1).view(numpy.uint8)
    return dtype, shape, memoryview(array)


def _describe_torch(name, tensor):
    import torch
    dtype = FROM_NAME.get(str(tensor.dtype).removeprefix("torch."))
    if dtype is None:
        raise errors.Invalid(f"{name!r}: safetensors has no type for "
                             f"{tensor.dtype}")
    shape = tuple(tensor.shape)
    if tensor.numel() == 0:
        return dtype, shape, b""
    flat = tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8)
    return dtype, shape, memoryview(flat.numpy())


class NumpyKit:
    """Read-only views of a slice."""

    def __init__(self):
        import numpy
        self._numpy = numpy

    def _dtype(self, name, dtype):
        try:
            return self._numpy.dtype(NUMPY[dtype])
        except TypeError:
            pass
        try:
            import ml_dtypes
        except ImportError:
            raise errors.Unsupported(
                f"{name!r} is {dtype}, which numpy lacks: install ml_dtypes, "
                'or use tensors("torch")') from None
        return self._numpy.dtype(getattr(ml_dtypes, NUMPY[dtype]))

    def read(self, payload):
        numpy, result = self._numpy, {}
        for name, tensor in payload.tensors.items():
            dtype = self._dtype(name, tensor.dtype)
            if tensor.size == 0:
                array = numpy.empty(tensor.shape, dtype)
            else:
                array = numpy.frombuffer(
                    payload.buffer, dtype, math.prod(tensor.shape),
                    tensor.start).reshape(tensor.shape)
            array.flags.writeable = False
            result[name] = array
        return result

    def concatenate(self, parts, axis):
        return parts[0] if len(parts) == 1 else self._numpy.concatenate(
            parts, axis)

    def stack(self, parts):
        return self._numpy.stack(parts)

    def equal(self, one, other):
        return one.shape == other.shape and one.tobytes() == other.tobytes()


class TorchKit:
    """Tensors in the memory of a slice."""

    def __init__(self):
        import torch
        self._torch = torch

    def _frombuffer(self, buffer, dtype, tensor):
        """An aligned view; a copy if the writer did not align it."""
        torch = self._torch
        count = math.prod(tensor.shape)
        if tensor.start % WIDTH[tensor.dtype] == 0:
            return torch.frombuffer(buffer, dtype=dtype, count=count,
                                    offset=tensor.start)
        raw = torch.frombuffer(buffer, dtype=torch.uint8, count=tensor.size,
                               offset=tensor.start)
        return raw.clone().view(dtype)

    def _read_one(self, name, buffer, tensor):
        torch = self._torch
        dtype = getattr(torch, NUMPY[tensor.dtype], None)
        wider = None if dtype is not None else WIDER.get(tensor.dtype)
        if dtype is None and wider is None:
            raise errors.Unsupported(f"{name!r} is {tensor.dtype}, which torch "
                                     f"{torch.__version__} lacks")
        first = dtype if wider is None else getattr(torch, wider[0])
        last = dtype if wider is None else getattr(torch, wider[1])
        if tensor.size == 0:
            return torch.empty(tensor.shape, dtype=last)
        flat = self._frombuffer(buffer, first, tensor)
        if wider is not None:
            flat = flat.to(last) & wider[2]
        return flat.reshape(tensor.shape)

    def read(self, payload):
        return {name: self._read_one(name, payload.buffer, tensor)
                for name, tensor in payload.tensors.items()}

    def concatenate(self, parts, axis):
        return parts[0] if len(parts) == 1 else self._torch.cat(parts, axis)

    def stack(self, parts):
        return self._torch.stack(parts)

    def equal(self, one, other):
        return one.shape == other.shape and describe("", one)[2] == describe(
            "", other)[2]


_KITS = {"numpy": NumpyKit, "torch": TorchKit}
_made = {}


def kit(framework):
    """The kit of "numpy" or "torch"."""
    if framework not in _made:
        if framework not in _KITS:
            raise errors.Invalid(f"framework {framework!r}: numpy or torch")
        _made[framework] = _KITS[framework]()
    return _made[framework]
