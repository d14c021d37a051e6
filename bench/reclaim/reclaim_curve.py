#!/usr/bin/env python3
"""How much a training run stores, over its steps, with and without deletion.

The run is the paper's: 1,010 steps, 34.85 GiB in all, a checkpoint every 100
steps of which the last two are kept, and at most 283 live steps; here at 1/32
of its size unless --scale says otherwise. The producer is faster than the
trainer, so it is as far ahead as the limit lets it be, and the run holds the
most that it can. Stored bytes are those of all files under the stream's prefix,
looked at every few steps, and before and after each deletion.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "pacing"))
sys.dont_write_bytecode = True

import pacing_plot  # noqa: E402

STEPS = 1010
TOTAL = 34.85 * 2**30
LIMIT = 283  # live steps
AHEAD = 83   # of them, for the producer, beyond two intervals
KEPT = 2
RATE = 60  # steps per second of the trainer; the producer is faster
INTERVALS = (50, 100, 200)
MIB = 2**20


def lakestream(*arguments):
    done = subprocess.run([os.environ["LAKESTREAM"], *map(str, arguments)],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, arguments))}: {done.stderr}")
    return done.stdout


def stored(folder):
    """Bytes of all that is there, whatever goes away meanwhile."""
    size = 0
    for where, _, names in os.walk(folder):
        for name in names:
            try:
                size += os.stat(os.path.join(where, name)).st_size
            except FileNotFoundError:
                pass
    return size


class Run:
    """One training run: a producer of its own, and a trainer that takes a step
    at a time."""

    def __init__(self, folder, text, interval, deletes):
        self.url = folder / f"every-{interval}-{deletes}"
        self.interval = interval
        self.deletes = deletes
        # Less than two intervals, and the trainer starves before it can have
        # two checkpoints.
        self.limit = max(LIMIT, KEPT * interval + AHEAD)
        self.step = 0     # the trainer's
        self.kept = [0]   # checkpoints
        self.curve = []   # (step, stored bytes)
        self.dry_run_held = True
        self.run("init", "--dp", 1, "--cp", 1, "--max-live-steps",
                 self.limit if deletes else 0)
        self.producer = subprocess.Popen(
            [os.environ["LAKESTREAM"], "pack", str(self.url), "--producer",
             "prep", "--seq-len", str(text.stat().st_size // STEPS), "--last",
             "drop", "--finish", "--durability", "none", str(text)],
            stdout=subprocess.DEVNULL)

    def run(self, command, *arguments):
        told = lakestream(command, self.url, "--durability", "none", "--json",
                          *arguments)
        return json.loads(told)

    def note(self):
        self.curve.append((self.step, stored(self.url)))

    def checkpoint(self):
        self.kept = (self.kept + [self.step])[-KEPT:]
        if not self.deletes:
            return
        self.run("watermark", "--group", "train", "--run", "job", "--ranks", 1,
                 "--rank", 0, "--step", self.kept[0])
        self.note()
        told = self.run("reclaim", "--dry-run")["removed"]["data"]
        done = self.run("reclaim")["removed"]["data"]
        self.dry_run_held = self.dry_run_held and told == done
        self.note()

    def train(self):
        """All steps that are there, to the next checkpoint, at RATE."""
        ready = self.run("info")["next_step"]
        goal = (self.step // self.interval + 1) * self.interval
        while self.step < min(ready, goal, STEPS):
            self.step += min(4, min(ready, goal, STEPS) - self.step)
            time.sleep(4 / RATE)
            self.note()
        if self.step == goal:
            self.checkpoint()

    def go(self):
        while self.step < STEPS:
            self.train()
        if self.producer.wait() != 0:
            raise SystemExit("the producer failed")
        report = self.run("verify", "--data")
        if not report["ok"]:
            raise SystemExit(f"verify: {report}")
        shutil.rmtree(self.url)
        return self


def by_step(curve):
    """The most that there was at each step."""
    sizes = [0] * (STEPS + 1)
    for step, size in curve:
        sizes[step] = max(sizes[step], size)
    for step in range(1, STEPS + 1):
        sizes[step] = sizes[step] or sizes[step - 1]
    return sizes[1:]


def row(run, without):
    peak = max(size for _, size in run.curve)
    last = run.curve[-1][1]
    return (f"| {run.interval} | {run.limit} | {peak / MIB:,.1f} | {last / MIB:,.1f} | "
            f"{100 * peak / without:.2f} % | {100 * (1 - peak / without):.1f} %"
            f" | {'yes' if run.dry_run_held else 'NO'} |")


def table(runs, whole, scale):
    without = max(size for _, size in whole.curve)
    lines = [
        f"Without deletion the run ends with {without / MIB:,.1f} MiB (the "
        f"paper's 34.85 GiB, at 1/{scale}).",
        "",
        "| checkpoint every | live steps | peak, MiB | at the end, MiB |"
        " peak of the whole |"
        " saved | dry run right |",
        "|---|---|---|---|---|---|---|",
    ]
    return "\n".join(lines + [row(run, without) for run in runs]) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--scale", type=int, default=32)
    parser.add_argument("--folder", help="where the streams are made")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        folder = pathlib.Path(name)
        text = folder / "text"  # a byte becomes a token of two
        text.write_bytes(os.urandom(int(TOTAL / STEPS / arguments.scale / 2))
                         * STEPS)
        whole = Run(folder, text, 100, False).go()
        runs = [Run(folder, text, interval, True).go()
                for interval in INTERVALS]
    told = table(runs, whole, arguments.scale)
    print(told)
    (arguments.out / "reclaim-table.md").write_text(
        "# Storage with and without reclaiming: the numbers\n\n"
        "Written by `bench/reclaim/reclaim_run.sh`; [reclaim.md](reclaim.md) says "
        "what they mean.\n\n" + told)
    series = [("no deletion", whole.curve)]
    series += [(f"every {run.interval}", run.curve) for run in runs]
    (arguments.out / "reclaim-storage.svg").write_text(pacing_plot.lines(
        "Stored bytes over a training run", "step of the trainer", STEPS,
        "MiB", [(name, [size / MIB for size in by_step(curve)])
                for name, curve in series]))
    peak = max(size for _, size in runs[INTERVALS.index(100)].curve)
    share = peak / max(size for _, size in whole.curve)
    return 0 if share <= 0.2850 else 1


if __name__ == "__main__":
    sys.exit(main())
