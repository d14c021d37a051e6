"""Another cp than the stream's: tensors cut or put together along an axis.

Both layouts have in common that the parts of c' come from neighbouring c: a
rank of a smaller cp needs whole slices, one of a larger cp a part of one slice.
"""

from . import errors

LAYOUTS = ("contiguous", "zigzag")


def check_layout(layout):
    if layout not in LAYOUTS:
        raise errors.Unsupported(
            f"cp_layout {layout!r} is none of {', '.join(LAYOUTS)}")


def _chunks(name, tensor, axis, count):
    length = tensor.shape[axis]
    if length % count != 0:
        raise errors.Unsupported(
            f"axis {axis} of {name!r} has length {length}, which does not "
            f"divide into {count}")
    size = length // count
    before = (slice(None),) * axis
    return [tensor[before + (slice(i * size, (i + 1) * size),)]
            for i in range(count)]


def remap(name, parts, axis, layout, piece, kit):
    """`parts` of neighbouring c as one, or the i-th of n pieces of one part."""
    index, count = piece
    if axis < 0:
        raise errors.Unsupported(f"cp_axis {axis} is negative")
    if parts[0].ndim <= axis:
        if any(not kit.equal(part, parts[0]) for part in parts[1:]):
            raise errors.Unsupported(
                f"{name!r} has no axis {axis}, and differs between the slices")
        return parts[0]
    if layout == "contiguous":
        if count > 1:
            return _chunks(name, parts[0], axis, count)[index]
        return kit.concatenate(parts, axis)
    if count > 1:
        chunks = _chunks(name, parts[0], axis, 2 * count)
        return kit.concatenate([chunks[index], chunks[-1 - index]], axis)
    halves = [_chunks(name, part, axis, 2) for part in parts]
    return kit.concatenate([half[0] for half in halves]
                           + [half[1] for half in reversed(halves)], axis)
