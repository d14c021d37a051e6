"""Which stream steps a dataset leaves out."""

from bisect import bisect_right

from . import errors
from .config import whole


def _as_range(item):
    if not isinstance(item, (tuple, list)):
        begin = whole("skip", item)
        return begin, begin + 1
    if len(item) != 2:
        raise errors.Invalid(f"skip: {item!r} is no (from, to)")
    begin, end = (whole("skip", number) for number in item)
    if end < begin:
        raise errors.Invalid(f"skip: {item!r} ends before it begins")
    return begin, end


def _merged(ranges):
    """In order, with gaps between them."""
    result = []
    for begin, end in sorted(ranges):
        if begin == end:
            continue
        if result and begin <= result[-1][1]:
            begin, last = result.pop()
            end = max(end, last)
        result.append((begin, end))
    return tuple(result)


class Skips:
    """Stream steps that are never handed out, the same for all ranks."""

    def __init__(self, items):
        self.ranges = _merged(map(_as_range, items))
        self._ends = [end for _, end in self.ranges]

    def first_from(self, step, group):
        """The first training step from `step` on that is wanted. One is not
        if any of its stream steps is listed."""
        at = bisect_right(self._ends, step)
        while at < len(self.ranges) and self.ranges[at][0] < step + group:
            step += max(0, -(-(self._ends[at] - step) // group)) * group
            at += 1
        return step

    def ahead(self, step, group, count):
        """The one that is `count` wanted training steps behind `step`."""
        step = self.first_from(step, group)
        for _ in range(count):
            step = self.first_from(step + group, group)
        return step

    def may_lead_to(self, step, group):
        """Whether it may be where they go on, though the stream has ended."""
        return bool(self._ends) and step < self._ends[-1] + group
