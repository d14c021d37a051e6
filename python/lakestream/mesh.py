"""How a rank's share of a step is put together from what the library reads.

The library lets dp differ from the stream's. What it does not know is cut here
into several of its consumers: other values of cp, and the strides of DataLoader
workers.
"""

from dataclasses import dataclass

from . import errors


@dataclass(frozen=True)
class Share:
    """One rank's part of each training step.

    parts   (rank, dp, cp) of each consumer, row by row
    rows    slices that stand below each other, one per DP row
    joins   slices of a row that are put together along the CP axis
    piece   (i, n): only the i-th of n pieces of a slice is wanted
    group   stream steps that make one training step
    """

    parts: tuple
    rows: int
    joins: int
    piece: tuple
    group: int


def _ratio(what, mine, streams):
    """(how many of the stream's are one of mine, how many of mine are one of
    the stream's); one of both is 1."""
    if streams % mine == 0:
        return streams // mine, 1
    if mine % streams == 0:
        return 1, mine // streams
    raise errors.Invalid(
        f"{what} {mine} does not divide the stream's {what} {streams}, nor is "
        "it a multiple")


def share(stream_dp, stream_cp, rank, dp=None, cp=None, stride=1):
    """The share of `rank` = d * cp + c in a mesh of dp x cp (None: the
    stream's own). With `stride` n only every n-th training step is read."""
    dp = stream_dp if dp is None else dp
    cp = stream_cp if cp is None else cp
    for name, value in (("dp", dp), ("cp", cp)):
        if value < 1:
            raise errors.Invalid(f"{name} is {value}; it is at least 1")
    if not 0 <= rank < dp * cp:
        raise errors.Invalid(f"rank {rank} is not below dp * cp = {dp * cp}")
    rows, group = _ratio("dp", dp, stream_dp)
    joins, pieces = _ratio("cp", cp, stream_cp)
    d, c = divmod(rank, cp)
    first = c * joins // pieces
    columns = range(first, first + joins)
    if stride == 1:
        parts = [(d * stream_cp + column, dp, stream_cp) for column in columns]
    else:
        wide = stride * dp * rows
        parts = [((d * rows + row) * stream_cp + column, wide, stream_cp)
                 for row in range(rows) for column in columns]
    return Share(tuple(parts), rows, joins, (c % pieces, pieces), group)
