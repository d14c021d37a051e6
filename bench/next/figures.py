#!/usr/bin/env python3
"""What reading costs in Python, on a folder in memory.

next() on prefetched steps, state_dict(), memory over many steps, and bytes
fetched for each byte needed by the number of slices, beside a reader of whole
batches. Prints one JSON object per line.

    figures.py [--steps 100000]
"""

import argparse
import json
import os
import resource
import statistics
import tempfile
import time

import lakestream as ls

STEPS, TIMED = 1200, 500


def fill(url, steps, slices, size, ragged=0):
    """With `ragged`, slices are up to so many bytes shorter."""
    ls.create(url, dp=slices, durability="none")
    with ls.Producer(url, "bench", durability="none") as producer:
        for _ in range(steps):
            producer.append([bytes(size - (ragged * i) // slices)
                             for i in range(slices)] if ragged
                            else [bytes(size)] * slices)
        producer.finish()


def time_next(url):
    """Each call on its own, with the window full at the start."""
    fill(url, STEPS, 1, 4096)
    with ls.Consumer(url) as consumer:
        next(consumer)
        time.sleep(0.5)
        times = []
        for _ in range(TIMED):
            begin = time.perf_counter()
            batch = next(consumer)
            times.append((time.perf_counter() - begin) * 1e6)
            del batch
        begin = time.perf_counter()
        for _ in range(TIMED):
            state = consumer.state_dict()
        state_us = (time.perf_counter() - begin) / TIMED * 1e6
    times.sort()
    return {"what": "next", "mean_us": round(statistics.mean(times), 2),
            "p50_us": round(times[TIMED // 2], 2),
            "p95_us": round(times[TIMED * 95 // 100], 2),
            "state_dict_us": round(state_us, 2),
            "state_bytes": len(json.dumps(state))}


def fetched_per_needed(url, rank, dp, needed):
    with ls.Consumer(url, rank=rank, dp=dp) as consumer:
        for _ in consumer:
            pass
        stats = consumer.stats()
    return round(stats["bytes_fetched"] / (needed or stats["bytes_needed"]), 4)


def amplification(url, slices, size, steps):
    """Of one rank in the middle, with slices of one size and of many; and of one
    that reads whole batches for its slice."""
    rank = slices // 2
    fill(url, steps, slices, size)
    fill(url + "-ragged", steps, slices, size, size // 2)
    return {"what": "fetched/needed", "slice": size, "slices": slices,
            "sliced": fetched_per_needed(url, rank, slices, 0),
            "ragged": fetched_per_needed(url + "-ragged", rank, slices, 0),
            "dense": fetched_per_needed(url, 0, 1, steps * size)}


def memory(url, steps):
    """The stream is read again and again."""
    fill(url, 2000, 1, 4096)
    page = os.sysconf("SC_PAGE_SIZE")
    sizes = []
    with ls.Consumer(url, prefetch_bytes="4MiB") as consumer:
        for turn in range(max(2, steps // 2000)):
            for _ in consumer:
                pass
            consumer.load_state_dict(0)
            with open("/proc/self/statm") as file:
                sizes.append(int(file.read().split()[1]) * page / 2 ** 20)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"what": "memory", "steps": len(sizes) * 2000,
            "after_tenth_mib": round(sizes[len(sizes) // 10], 1),
            "at_end_mib": round(sizes[-1], 1), "peak_mib": round(peak, 1)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="lakestream-", dir="/dev/shm") as at:
        print(json.dumps(time_next(f"file://{at}/next")), flush=True)
        print(json.dumps(memory(f"file://{at}/memory", arguments.steps)),
              flush=True)
        for size in (64 << 10, 1 << 20):
            for slices in (1, 2, 4, 8, 16, 32, 64, 128):
                with tempfile.TemporaryDirectory(dir=at) as folder:
                    row = amplification(f"file://{folder}/s", slices, size,
                                        max(16, 1024 // slices))
                print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
