#!/usr/bin/env python3
"""What ingest and consume lose while a reclaim is at work on the same store.

A stream in balance deletes as much as it takes in. So each measured run has a
twin beside a reclaim that has a stream of the same size to delete, built before.
Runs with and without it take turns, in changing order; the figure is the median
over the pairs. A third kind, with `rm -r` in the place of the reclaim, tells on
a folder what deleting as such costs.
"""

import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

MIB = 2**20
PASSES = 3  # of a reader, which is faster than who writes


def start(*words):
    return subprocess.Popen([os.environ["LAKESTREAM"], *map(str, words),
                             "--durability", "none"],
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                            text=True)


def wait(process):
    _, said = process.communicate()
    if process.returncode != 0:
        raise SystemExit(f"{process.args}: {said}")


def run(*words):
    wait(start(*words))


class Bench:
    def __init__(self, place, batch, count):
        self.place, self.batch, self.count = place, batch, count
        self.made = 0

    def init(self):
        self.made += 1
        url = f"{self.place}/{self.made}"
        run("init", url, "--dp", 1, "--cp", 1)
        return url

    def fill(self, url):
        run("pack", url, "--producer", "p", "--seq-len",
            self.batch.stat().st_size // 2, "--finish",
            *[self.batch] * self.count)

    def garbage(self):
        """A stream that is all to be deleted."""
        url = self.init()
        self.fill(url)
        run("watermark", url, "--group", "g", "--run", "r", "--ranks", 1,
            "--rank", 0, "--step", self.count)
        return url

    def remove(self, url):
        if "://" in url:
            run("drop", url, "--force")
        else:
            shutil.rmtree(url, ignore_errors=True)

    def timed(self, act, url, deleter):
        """Seconds that the work takes, beside what deletes garbage."""
        garbage = self.garbage()
        beside = None
        if deleter == "reclaim":
            beside = start("reclaim", garbage)
        elif deleter == "rm":
            beside = subprocess.Popen(["rm", "-r", garbage], text=True,
                                      stderr=subprocess.PIPE)
        began = time.monotonic()
        act(url)
        took = time.monotonic() - began
        if beside is not None:
            beside.terminate()
            beside.communicate()
        self.remove(garbage)
        return took

    def ingest(self, deleter):
        url = self.init()
        took = self.timed(self.fill, url, deleter)
        self.remove(url)
        return took

    def read(self, url):
        for _ in range(PASSES):
            run("consume", url, "--rank", 0, "--raw")

    def consume(self, deleter):
        return self.timed(self.read, self.full, deleter) / PASSES

    def compare(self, measure, pairs):
        """By kind of deleter, the seconds of each turn."""
        kinds = ["nobody", "reclaim"] + ["rm"] * ("://" not in self.place)
        took = {kind: [] for kind in kinds}
        measure("reclaim")  # warm up
        for turn in range(pairs):
            for kind in kinds[turn % len(kinds):] + kinds[:turn % len(kinds)]:
                took[kind].append(measure(kind))
        return took


def row(store, name, size, took):
    alone = took["nobody"]
    cells = [store, name, f"{size / statistics.median(alone) / MIB:,.0f}"]
    for kind in ("reclaim", "rm"):
        shares = sorted(a / b for a, b in zip(alone, took.get(kind, [])))
        cells.append(f"{statistics.median(shares):.3f} ({shares[0]:.2f} to "
                     f"{shares[-1]:.2f})" if shares else "-")
    return "| " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("place", help="a folder, or s3://bucket/prefix")
    parser.add_argument("--store", required=True, help="its name in the table")
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--count", type=int, default=64, help="batches a run")
    parser.add_argument("--mib", type=int, default=8, help="of a batch")
    arguments = parser.parse_args()
    size = arguments.count * arguments.mib * MIB
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        batch = pathlib.Path(folder) / "batch.bin"
        batch.write_bytes(os.urandom(arguments.mib * MIB))
        bench = Bench(arguments.place, batch, arguments.count)
        print(row(arguments.store, "ingest", size,
                  bench.compare(bench.ingest, arguments.pairs)), flush=True)
        bench.full = bench.init()
        bench.fill(bench.full)
        print(row(arguments.store, "consume", size,
                  bench.compare(bench.consume, arguments.pairs)), flush=True)
        bench.remove(bench.full)


if __name__ == "__main__":
    sys.exit(main())
