#!/usr/bin/env python3
"""How much a training run stores, over its steps, with and without deletion.

The run is the paper's: 1,010 steps, 34.85 GiB in all, a checkpoint every 100
steps of which the last two are kept, and at most 283 live steps; here at 1/32
of its size unless --scale says otherwise. The producer is faster than the
trainer, so it is as far ahead as the limit lets it be, and the run holds the
most that it can. Stored bytes are those of all files under the stream's prefix,
looked at every few steps, and before and after each deletion.

A checkpoint interval that the limit has no room for cannot run: what the
product says then is written down, and the run is made with a larger limit.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import textwrap
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
MIB = 2**20


def lakestream(*arguments):
    done = subprocess.run([os.environ["LAKESTREAM"], *map(str, arguments)],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, arguments))}: {done.stderr}")
    return done.stdout


def stored(folder):
    """Bytes of all that is there, whatever goes away meanwhile, and how many
    batches are among it."""
    size = count = 0
    for where, _, names in os.walk(folder):
        for name in names:
            try:
                size += os.stat(os.path.join(where, name)).st_size
            except FileNotFoundError:
                continue
            count += where.startswith(os.path.join(folder, "data"))
    return size, count


class Run:
    """One training run: a producer of its own, and a trainer that takes a step
    at a time."""

    def __init__(self, folder, text, interval, rate, limit=LIMIT):
        self.url = folder / "s"
        self.interval = interval
        self.rate = rate      # steps per second of the trainer; 0: any
        self.limit = limit    # 0: nothing is deleted
        self.step = 0     # the trainer's
        self.kept = [0]   # checkpoints
        self.curve = []   # (step, stored bytes, batches among them)
        self.dry_run_held = True
        self.run("init", "--dp", 1, "--cp", 1, "--max-live-steps",
                 self.limit)
        self.producer = subprocess.Popen(
            [os.environ["LAKESTREAM"], "pack", str(self.url), "--producer",
             "prep", "--seq-len", str(text.stat().st_size), "--last", "drop",
             "--finish", "--durability", "none", "--flush-timeout-ms",
             "3600000", *[str(text)] * STEPS],
            stdout=subprocess.DEVNULL)

    def run(self, command, *arguments):
        told = lakestream(command, self.url, "--durability", "none", "--json",
                          *arguments)
        return json.loads(told)

    def note(self):
        self.curve.append((self.step, *stored(self.url)))

    def checkpoint(self):
        self.kept = (self.kept + [self.step])[-KEPT:]
        if self.limit == 0:
            return
        self.run("watermark", "--group", "train", "--run", "job", "--ranks", 1,
                 "--rank", 0, "--step", self.kept[0])
        self.note()
        told = self.run("reclaim", "--dry-run")["removed"]["data"]
        done = self.run("reclaim")["removed"]["data"]
        self.dry_run_held = self.dry_run_held and told == done
        self.note()

    def train(self):
        """All steps that are there, to the next checkpoint."""
        ready = self.run("info")["next_step"]
        goal = (self.step // self.interval + 1) * self.interval
        while self.step < min(ready, goal, STEPS):
            self.step += min(4, min(ready, goal, STEPS) - self.step)
            time.sleep(4 / self.rate if self.rate else 0)
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

    def most(self):
        return max(size for _, size, _ in self.curve)


def room_for(interval):
    """Less than two intervals, and the trainer starves before it can have two
    checkpoints."""
    return max(LIMIT, KEPT * interval + AHEAD)


def blocked(folder, text, interval, rate):
    """What a stream says whose limit leaves no room for two intervals."""
    run = Run(folder, text, interval, rate)
    while run.step < interval:
        run.train()
    while run.run("info")["next_step"] < LIMIT:
        time.sleep(0.1)
    said = []
    for words in (("consume", "--rank", 0, "--from", LIMIT - 1, "--group",
                   "train", "--run", "job", "--raw", "--starve-timeout-ms",
                   2000), ("reclaim",)):
        told = subprocess.run(
            [os.environ["LAKESTREAM"], words[0], "s", *map(str, words[1:])],
            stdout=(subprocess.DEVNULL if words[0] == "consume"
                    else subprocess.PIPE),
            stderr=subprocess.PIPE, text=True, check=False, cwd=run.url.parent)
        said.append((words, *(each.replace(str(folder), "/data") for each in
                              (told.stdout or "", told.stderr))))
    run.producer.kill()
    run.producer.wait()
    shutil.rmtree(run.url)
    return said


def by_step(curve):
    """The most that there was at each step."""
    sizes = [0] * (STEPS + 1)
    for step, size, _ in curve:
        sizes[step] = max(sizes[step], size)
    for step in range(1, STEPS + 1):
        sizes[step] = sizes[step] or sizes[step - 1]
    return sizes[1:]


def row(run, whole):
    _, peak, batches = max(run.curve, key=lambda each: each[1])
    last, without = run.curve[-1][1], whole.most()
    return (f"| {run.interval} | {run.limit} | {peak / MIB:,.1f} | "
            f"{last / MIB:,.1f} | {100 * peak / without:.2f} % | "
            f"{100 * (1 - peak / without):.1f} % | {batches} | "
            f"{100 * run.limit / STEPS:.2f} % | "
            f"{'yes' if run.dry_run_held else 'NO'} |")


def table(runs, whole, scale):
    lines = [
        f"Without deletion the run ends with {whole.most() / MIB:,.1f} MiB (the "
        f"paper's 34.85 GiB, at 1/{scale}).",
        "",
        "| every | live steps | peak, MiB | end, MiB | peak of all | saved |"
        " batches then | limit alone | dry run right |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    return "\n".join(lines + [row(run, whole) for run in runs]) + "\n"


def console(said):
    """The same as it was seen on a terminal."""
    lines = []
    for words, out, err in said:
        lines.append("$ lakestream " + " ".join(map(str, (
            words[0], "s", *words[1:]))))
        for line in (out + err).splitlines():
            lines += textwrap.wrap(line, 118, subsequent_indent="    ",
                                   replace_whitespace=False)
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--scale", type=int, default=32)
    parser.add_argument("--intervals", type=int, nargs="+",
                        default=[50, 100, 200])
    parser.add_argument("--rate", type=float, default=60, help="steps per "
                        "second of the trainer: less than the disk takes")
    parser.add_argument("--folder", help="where the streams are made")
    arguments = parser.parse_args()
    scale, intervals = arguments.scale, arguments.intervals
    rate = arguments.rate
    refused = [each for each in intervals if KEPT * each >= LIMIT]
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        folder = pathlib.Path(name)
        text = folder / "text"  # of one step; a byte becomes a token of two
        text.write_bytes(os.urandom(int(TOTAL / STEPS / scale / 2)))
        whole = Run(folder, text, 100, 0, 0).go()
        runs = [Run(folder, text, interval, rate, room_for(interval)).go()
                for interval in intervals]
        said = [blocked(folder, text, interval, rate) for interval in refused]
    told = table(runs, whole, scale)
    for interval, each in zip(refused, said):
        told += (f"\nWith a checkpoint every {interval} steps and {LIMIT} live "
                 "steps, once the producer is at the limit:\n\n```\n"
                 f"{console(each)}```\n")
    print(told)
    more = "" if scale == 32 else f"-{scale}"
    (arguments.out / f"reclaim-table{more}.md").write_text(
        "# Storage with and without reclaiming: the numbers\n\n"
        "Written by `bench/reclaim/reclaim_run.sh`; [reclaim.md](reclaim.md) "
        "says what they mean.\n\n" + told)
    series = [("no deletion", whole.curve)]
    series += [(f"every {run.interval}", run.curve) for run in runs]
    (arguments.out / f"reclaim-storage{more}.svg").write_text(pacing_plot.lines(
        "Stored bytes over a training run", "step of the trainer", STEPS,
        "MiB", [(name, [size / MIB for size in by_step(curve)])
                for name, curve in series]))
    share = max(run.most() / whole.most() for run in runs
                if run.limit == LIMIT)
    return 0 if share <= 0.2850 else 1


if __name__ == "__main__":
    sys.exit(main())
