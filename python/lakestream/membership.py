"""Being one rank of a training job whose steps the stream keeps.

The library's consumer does that itself when its mesh is the rank's. This is for
ranks that read through several consumers, or in other processes.
"""

import json
import os

from . import errors

RANK_ALL = 0xFFFFFFFF


def _chosen(options, name):
    """What is in force: set, or from the environment."""
    return options.get(name) or os.environ.get("LAKESTREAM_" + name.upper(), "")


def shown_run(info, group):
    """(id, attempt) of the run that a group shows, or None."""
    for row in info["groups"]:
        if row["name"] == group and row.get("run"):
            return row["run"], row["attempt"]
    return None


class Membership:
    """One rank's watermark. Without a group it does nothing."""

    def __init__(self, stream, options, rank, ranks):
        self._stream, self._ranks = stream, ranks
        self.group = _chosen(options, "group")
        self._options = {name: options[name] for name in
                         ("run", "flush_timeout_ms") if name in options}
        self._rank = rank
        if _chosen(options, "watermark") == "all":
            self._rank = RANK_ALL
        self._reclaims = rank == 0 and _chosen(options, "reclaim") == "yes"
        self.kept = None  # the oldest step that is still mine

    def join(self, step):
        """Keeps `step` and what comes after it, from now on."""
        if self.group:
            self._publish(step)

    def _publish(self, step):
        self._stream.watermark(self.group, self._ranks, self._rank, step,
                               self._options)
        self.kept = max(step, self.kept or 0)

    def check(self, step):
        """Refuses a step that the others were told is not needed."""
        if self.kept is not None and step < self.kept:
            raise errors.Invalid(
                f"step {step} is below this rank's watermark, {self.kept}: "
                "going back behind it needs a new run")

    def checkpointed(self, step, oldest_kept):
        """See Consumer.checkpointed()."""
        if not self.group:
            raise errors.Invalid("checkpointed() is for ranks of a group: open "
                                 "with group=")
        self._publish(step if oldest_kept is None else min(step, oldest_kept))
        if self._reclaims:
            json.loads(self._stream.reclaim(False, {}))
