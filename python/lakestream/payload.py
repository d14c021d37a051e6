"""Dicts of arrays in the safetensors layout: encoded once, read without copies.

The layout is that of https://github.com/huggingface/safetensors: eight bytes of
length, a JSON header, the tensors. Two keys of its metadata are ours: `cp_axis`
and `cp_layout` say how rows were cut for context parallelism.
"""

from dataclasses import dataclass
import json
import math
import re
import struct

from . import arrays, errors, remap
from .config import whole

ALIGNMENT = 64  # of the first tensor, within the slice
HEADER_SIZE_MAX = 100 << 20


@dataclass(frozen=True)
class Tensor:
    """Where a tensor lies within the slice."""

    dtype: str
    shape: tuple
    start: int
    size: int


def check_raw(slice):
    """Refuses a buffer of addresses, of Python objects for instance."""
    try:
        with memoryview(slice) as view:
            format = view.format
    except (TypeError, ValueError, BufferError):
        return  # who appends it says what is wrong with it, if anything
    if re.search("[OPX&]", re.sub(":[^:]*:", "", format)):
        raise errors.Invalid(f"a slice of type {type(slice).__name__} and format "
                             f"{format!r} holds addresses of this process's")


def _check_cp_axis(axis, parts):
    if parts and all(len(shape) <= axis for _, _, shape, _ in parts):
        raise errors.Invalid(
            f"cp_axis is {axis}, and no tensor has so many axes: "
            + ", ".join(f"{name!r} {tuple(shape)}" for name, _, shape, _ in parts))


def encode(tensors, *, cp_axis=None, cp_layout="contiguous", metadata=None):
    """A safetensors blob of a dict of numpy arrays or torch tensors, as a
    bytearray. `metadata`: a dict of texts."""
    metadata = dict(metadata or {})
    remap.check_layout(cp_layout)
    if cp_axis is not None:
        cp_axis = whole("cp_axis", cp_axis)
        metadata |= {"cp_axis": str(cp_axis), "cp_layout": cp_layout}
    for name in tensors:
        if not isinstance(name, str) or name == "__metadata__":
            raise errors.Invalid(f"{name!r} is no name for a tensor")
    parts = [(name, *arrays.describe(name, tensor))
             for name, tensor in tensors.items()]
    if cp_axis is not None:
        _check_cp_axis(cp_axis, parts)
    # The widest first, so that each is aligned to its own width.
    parts.sort(key=lambda part: (-arrays.WIDTH[part[1]], part[0]))

    header, at = {}, 0
    if metadata:
        header["__metadata__"] = metadata
    for name, dtype, shape, data in parts:
        header[name] = {"dtype": dtype, "shape": list(shape),
                        "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % ALIGNMENT)
    blob = bytearray(8 + len(text) + at)
    blob[:8 + len(text)] = struct.pack("<Q", len(text)) + text
    at = 8 + len(text)
    for _, _, _, data in parts:
        blob[at:at + len(data)] = data
        at += len(data)
    return blob


def _bad(what):
    return errors.Invalid(f"the slice is not a safetensors blob: {what}")


def _parse_entry(name, entry, begin, size):
    try:
        dtype, shape = entry["dtype"], tuple(entry["shape"])
        start, end = entry["data_offsets"]
        count = math.prod(shape)
        whole = all(type(n) is int and n >= 0 for n in (*shape, start, end))
    except (TypeError, KeyError, ValueError):
        raise _bad(f"its entry for {name!r}") from None
    if not whole or start > end or begin + end > size:
        raise _bad(f"{name!r} lies beyond its end")
    width = arrays.WIDTH.get(dtype)
    if width is None:
        raise errors.Unsupported(f"tensor {name!r} has the unknown type {dtype}")
    if count * width != end - start:
        raise _bad(f"{name!r} has {end - start} bytes for its shape {shape}")
    return Tensor(dtype, shape, begin + start, end - start)


class Payload:
    """A slice's header, checked against its size."""

    def __init__(self, buffer):
        self.buffer = buffer
        with memoryview(buffer).cast("B") as view:
            size = len(view)
            if size < 8:
                raise _bad(f"it has {size} bytes")
            length, = struct.unpack_from("<Q", view)
            if length > min(size - 8, HEADER_SIZE_MAX):
                raise _bad(f"a header of {length} bytes in {size}")
            try:
                header = json.loads(bytes(view[8:8 + length]))
            except ValueError:
                raise _bad("its header is no JSON") from None
        if not isinstance(header, dict):
            raise _bad("its header is no object")
        self.metadata = header.pop("__metadata__", None) or {}
        self.tensors = {name: _parse_entry(name, entry, 8 + length, size)
                        for name, entry in header.items()}

    def cp_axis(self):
        """(axis, layout), or None if no axis is declared."""
        if "cp_axis" not in self.metadata:
            return None
        try:
            axis = int(self.metadata["cp_axis"])
        except ValueError:
            raise _bad("its cp_axis is no number") from None
        layout = self.metadata.get("cp_layout", "contiguous")
        remap.check_layout(layout)
        return axis, layout


def _declared(payload):
    declared = payload.cp_axis()
    if declared is None:
        raise errors.Unsupported(
            "cp differs from the stream's, and the payload declares no axis to "
            "cut: append it with cp_axis=")
    return declared


def _joined_row(payloads, kit, piece):
    """One DP row: `payloads` are its slices along the CP axis."""
    rows = [kit.read(payload) for payload in payloads]
    if len(rows) == 1 and piece[1] == 1:
        return rows[0]
    axis, layout = _declared(payloads[0])
    for payload, row in zip(payloads, rows):
        if row.keys() != rows[0].keys() or _declared(payload) != (axis, layout):
            raise errors.Unsupported("the slices of a row differ in their names "
                                     "or in their declared axis")
    return {name: remap.remap(name, [row[name] for row in rows], axis, layout,
                              piece, kit)
            for name in rows[0]}


def _check_types(payloads):
    """numpy and torch would find a type that holds all, and say nothing."""
    for name in payloads[0].tensors:
        types = {payload.tensors[name].dtype for payload in payloads
                 if name in payload.tensors}
        if len(types) > 1:
            raise errors.Unsupported(
                f"{name!r} is {' and '.join(sorted(types))} in slices that are "
                "put together")


def assemble(buffers, framework="numpy", joins=1, piece=(0, 1), row=None):
    """The tensors of a rank's slices: `buffers` are rows of `joins`."""
    kit = arrays.kit(framework)
    if row is not None:
        count = len(buffers) // joins
        if not 0 <= row < count:
            raise IndexError(f"row {row} of {count}")
        buffers = buffers[row * joins:(row + 1) * joins]
    payloads = [Payload(buffer) for buffer in buffers]
    _check_types(payloads)
    rows = [_joined_row(payloads[i:i + joins], kit, piece)
            for i in range(0, len(payloads), joins)]
    if len(rows) == 1:
        return rows[0]
    return _stacked(rows, kit)


def _stacked(rows, kit):
    result = {}
    for name in rows[0]:
        try:
            parts = [row[name] for row in rows]
        except KeyError:
            raise errors.Unsupported(
                f"not all slices have {name!r}: use tensors(row=i)") from None
        tails = {tuple(part.shape[1:]) for part in parts}
        if len(tails) > 1 or len({part.ndim for part in parts}) > 1:
            raise errors.Unsupported(
                f"{name!r} has another shape in each slice: use tensors(row=i)")
        result[name] = (kit.stack(parts) if parts[0].ndim == 0
                        else kit.concatenate(parts, 0))
    return result
