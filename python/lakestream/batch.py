"""Batches: one rank's slices of one training step, as bytes or as arrays."""

import pickle

from . import _core, errors, payload


class Slices:
    """What all batches can do. `rows`, `joins`, `piece`: see mesh.Share."""

    __slots__ = ()

    rows, joins, piece = 1, 1, (0, 1)

    @property
    def slices(self):
        """The slices as buffers, ordered by rank; not copied. They keep the
        memory of the batch while they or views of them live."""
        if self.joins > 1 or self.piece[1] > 1:
            raise errors.Unsupported(
                "cp differs from the stream's, and raw slices cannot be cut or "
                "put together: use .tensors(), with a payload that declares "
                "its cp_axis")
        return self._buffers()

    def tensors(self, framework="numpy", row=None):
        """The slices' tensors by name, in the safetensors layout.

        framework   "numpy" (read-only arrays) or "torch"
        row         of several slices only this one

        One slice: views of the batch's memory, nothing is copied. Several are
        put together along axis 0, by copying; 0-d tensors become 1-d then.
        torch without unsigned types (before 2.3) gets u16 as int32 and u32 as
        int64, copied.

        Raises ValueError for a slice that is no safetensors blob, Unsupported
        for a dtype that the framework lacks, or for a change of cp without a
        declared axis.
        """
        return payload.assemble(self._buffers(), framework, self.joins,
                                self.piece, row)

    def metadata(self):
        """The `__metadata__` of the first slice: a dict of texts."""
        return payload.Payload(self._buffers()[0]).metadata

    def __reduce__(self):
        return _rebuild, (self.step, self.next_step, self.meta,
                          [bytes(buffer) for buffer in self._buffers()],
                          (self.rows, self.joins, self.piece))

    def __reduce_ex__(self, protocol):
        if protocol < 5:
            return self.__reduce__()
        return _rebuild, (self.step, self.next_step, self.meta,
                          [pickle.PickleBuffer(memoryview(buffer))
                           for buffer in self._buffers()],
                          (self.rows, self.joins, self.piece))

    def __repr__(self):
        return (f"<{type(self).__name__} step {self.step}, "
                f"{len(self._buffers())} slices>")


class Batch(Slices, _core.Batch):
    """What a rank gets when its cp is the stream's own. memoryview(batch) is
    its slice, if it has one."""

    __slots__ = ("_meta",)

    def _buffers(self):
        return [_core.Slice(self, index) for index in range(self.slice_count)]

    @property
    def rows(self):
        """The slices that it has, one per DP row."""
        return self.slice_count

    @property
    def meta(self):
        """The bytes given as `meta` at the append of the (first) TGB. Costs a
        read of the store the first time."""
        try:
            return self._meta
        except AttributeError:
            self._meta = self._read_meta()
            return self._meta


class JoinedBatch(Slices):
    """What several consumers read for one rank."""

    __slots__ = ("parts", "group", "rows", "joins", "piece")

    def __init__(self, parts, share):
        self.parts, self.group = parts, share.group
        self.rows, self.joins, self.piece = share.rows, share.joins, share.piece

    def _buffers(self):
        """Row by row. One consumer of a column reads all rows of it."""
        columns = [part._buffers() for part in self.parts]
        if len(columns) == self.rows * self.joins:
            return [column[0] for column in columns]
        return [column[row] for row in range(self.rows) for column in columns]

    @property
    def step(self):
        """The stream step that the batch begins at, from 0."""
        return self.parts[0].step

    @property
    def next_step(self):
        """The step that comes after it."""
        return self.step + self.group

    @property
    def slice_count(self):
        """Slices of the stream that it is made of."""
        return len(self._buffers())

    @property
    def meta(self):
        """The bytes given as `meta` at the append of the (first) TGB."""
        return self.parts[0].meta


class DetachedBatch(Slices):
    """A batch that came from a pickle: it has its own memory. It is no buffer
    itself, but its slices are."""

    __slots__ = ("step", "next_step", "meta", "_bytes", "rows", "joins", "piece")

    def __init__(self, step, next_step, meta, buffers, shape):
        self.step, self.next_step, self.meta = step, next_step, meta
        self._bytes = buffers
        self.rows, self.joins, self.piece = shape

    def _buffers(self):
        return list(self._bytes)

    @property
    def slice_count(self):
        """How many slices it has."""
        return len(self._bytes)


def _rebuild(step, next_step, meta, buffers, shape):
    return DetachedBatch(step, next_step, meta, buffers, shape)
