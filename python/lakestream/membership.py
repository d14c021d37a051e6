"""Being one rank of a training job whose steps the stream keeps.

The library's consumer does that itself when its mesh is the rank's. This is for
ranks that read through several consumers, or in other processes.
"""

import json
import os
import secrets

from . import errors

RANK_ALL = 0xFFFFFFFF

# Which job, and how often it was started again; as the library has it.
LAUNCHERS = (("TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT"),
             ("SLURM_JOB_ID", "SLURM_RESTART_COUNT"))


def _chosen(options, name):
    """What is in force: set, or from the environment."""
    return options.get(name) or os.environ.get("LAKESTREAM_" + name.upper(), "")


def shown_run(info, group):
    """(id, attempt) of the run that a group shows, or None."""
    for row in info["groups"]:
        if row["name"] == group and row.get("run"):
            return row["run"], row["attempt"]
    return None


def named_run(options):
    """ "ID.ATTEMPT" by argument, environment or launcher; None if by none."""
    run = _chosen(options, "run")
    if run:
        return run
    for name, restart in LAUNCHERS:
        # torchrun's id is "none" where nobody gave one.
        if os.environ.get(name) not in (None, "", "none"):
            return f"{os.environ[name]}.{os.environ.get(restart, '0')}"
    return None


class Membership:
    """One rank's watermark. Without a group it does nothing."""

    def __init__(self, stream, options, rank, ranks, run=None):
        self._stream, self._ranks = stream, ranks
        self.group = _chosen(options, "group")
        self._options = {name: options[name] for name in
                         ("flush_timeout_ms",) if name in options}
        self._run = run or named_run(options)
        self._rank = rank
        if _chosen(options, "watermark") == "all":
            self._rank = RANK_ALL
        self._reclaims = rank == 0 and _chosen(options, "reclaim") == "yes"
        self.kept = None  # the oldest step that is still mine

    def join(self, step):
        """Keeps `step` and what comes after it, from now on."""
        if not self.group:
            return
        if self._run is None and self._ranks > 1:
            raise errors.Invalid(
                f"group {self.group} has {self._ranks} ranks and no run: say "
                "run=, the same on all ranks and new at every start")
        if self._run is None:
            self._run = "single-" + secrets.token_hex(8)
        self._publish(step)

    def _publish(self, step):
        self._stream.watermark(self.group, self._ranks, self._rank, step,
                               {**self._options, "run": self._run})
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
