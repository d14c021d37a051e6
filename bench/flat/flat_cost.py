"""Measures what commits, opens, polls and lookups cost on streams of 1,000 to
1,000,000 steps, and writes docs/benchmarks/flat-cost-table.md. Each case is
kept in --results, and the page is made of all that are there."""

import argparse
import json
import os
import pathlib
import subprocess
import sys

COSTS = ("commit", "open_producer", "open_consumer", "poll", "lookup", "raw")
CASES = ((0, 100_000), (0, 900_000), (0, 1_000_000), (1000, 100_000),
         (1000, 1_000_000))


def measure(args, producers, steps):
    command = [args.lakestream, "bench", "commit", args.store, "--json",
               "--steps", str(steps), "--producers-in-map", str(producers),
               "--pairs", str(args.pairs), "--poll-ms", "1"]
    print(" ".join(command), file=sys.stderr)
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def row(report, cost):
    small, large = report["small"][cost], report["large"][cost]
    return (f"| {cost.replace('_', ' a ')} | {small['ms_median']:.3f} "
            f"| {small['ms_p95']:.3f} | {large['ms_median']:.3f} "
            f"| {large['ms_p95']:.3f} "
            f"| {report['large_over_small'][cost]:.2f} "
            f"| {small['requests']}, {large['requests']} "
            f"| {large['bytes_read']:,} | {large['bytes_written']:,} |")


def section(report):
    small, large = report["small"], report["large"]
    producers = report["producers_in_map"]
    title = f"## {small['steps']:,} against {large['steps']:,} steps"
    if producers:
        title += f", {producers:,} producers with offsets of 256 bytes"
    lines = [
        title, "",
        f"Built in {small['build_seconds']:.1f} and "
        f"{large['build_seconds']:.1f} s, of versions {small['version']:,} "
        f"and {large['version']:,}. A full manifest has "
        f"{small['manifest_bytes']:,} and {large['manifest_bytes']:,} bytes.",
        f"Commits per second over raw writes of the same bytes: "
        f"{report['ratio']:.2f}.", "",
        "| ms | short, median | p95 | long, median | p95 | ratio of pairs "
        "| requests | bytes read | written |",
        "|---|---|---|---|---|---|---|---|---|"]
    return "\n".join(lines + [row(report, cost) for cost in COSTS])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lakestream", required=True)
    parser.add_argument("--store", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--results", type=pathlib.Path, required=True)
    parser.add_argument("--case", type=int, nargs="+", metavar="N",
                        default=range(len(CASES)), help="only these")
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--scale", type=int, default=1,
                        help="divides the numbers of steps, for a trial")
    args = parser.parse_args()
    parts = ["# Flat cost: the tables", "",
             "Made by `make bench-flat`; [flat-cost.md](flat-cost.md) says "
             "what they mean.", ""]
    args.results.mkdir(parents=True, exist_ok=True)
    for number, (producers, steps) in enumerate(CASES):
        kept = args.results / f"{number}.json"
        if number in args.case:
            kept.write_text(json.dumps(
                measure(args, producers, steps // args.scale)))
        if kept.exists():
            parts += [section(json.loads(kept.read_text())), ""]
    path = os.path.join(args.out, "flat-cost-table.md")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(parts))
    print(path)


if __name__ == "__main__":
    main()
