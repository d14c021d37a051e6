"""Measures appending and reading against the raw store over sizes and numbers
of workers, and the raw store against fio, and writes the tables of
docs/benchmarks/core.md. fio is left out where it is not installed."""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

KIB, MIB = 1 << 10, 1 << 20
SIZES = (4 * KIB, 64 * KIB, MIB, 16 * MIB, 64 * MIB)
WORKERS = (1, 2, 4, 8)
DEPTH = 4  # requests of a worker at a time, as the benches have them
COUNT_MAX = 2048
TAKES = 7
FIO_CHUNK = 4 * MIB  # what the file store reads or writes at once


def name_of(size):
    return f"{size // MIB} MiB" if size >= MIB else f"{size // KIB} KiB"


def shape_of(what, size, workers, volume):
    """The slices of a TGB, and how many TGBs have about `volume` bytes."""
    if what == "consume":
        slices = workers  # so each rank reads one
    else:
        slices = 4 if size <= MIB else 1
    count = max(8, min(COUNT_MAX, volume // (size * slices)))
    return slices, count - count % workers


def bench(args, what, store, durability, size, workers, volume):
    slices, count = shape_of(what, size, workers, volume)
    command = [args.lakestream, "bench", what, store, "--json",
               "--durability", durability, "--slice-size", str(size),
               "--slices", str(slices), "--count", str(count),
               "--producers" if what == "ingest" else "--ranks", str(workers)]
    print(" ".join(command), file=sys.stderr)
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def spread(ratios):
    return (f"{ratios['median']:.2f} "
            f"({ratios['min']:.2f} - {ratios['max']:.2f})")


HEAD = ["| slice | {workers} | raw MB/s | + CRC | ours | of raw | of raw + CRC "
        "| rounds | rounds + CRC | requests per {item} |",
        "|---|---|---|---|---|---|---|---|---|---|"]


def grid(args, what, store, durability, sizes, workers, volume):
    item = "step" if what == "consume" else "tgb"
    names = {"item": item,
             "workers": "ranks" if what == "consume" else "producers"}
    lines = [line.format(**names) for line in HEAD]
    for size in sizes:
        for count in workers:
            report = bench(args, what, store, durability, size, count, volume)
            requests = report[f"requests_per_{item}"]
            lines.append(
                f"| {name_of(size)} | {count} "
                f"| {report['raw']['median']:.0f} "
                f"| {report['raw_crc']['median']:.0f} "
                f"| {report['ours']['median']:.0f} "
                f"| {report['ratio']:.2f} | {report['ratio_crc']:.2f} "
                f"| {spread(report['ratio_of_pairs'])} "
                f"| {spread(report['ratio_crc_of_pairs'])} "
                f"| {requests['raw']:.2f}, {requests['ours']:.2f} |")
            print(lines[-1], file=sys.stderr)
    return lines


def fio_once(folder, direction, size, threads, count):
    """MB/s of whole files of `size` bytes, as the raw side has them."""
    command = ["fio", "--name=raw", f"--directory={folder}",
               f"--rw={direction}", f"--bs={min(size, FIO_CHUNK)}",
               f"--filesize={size}", f"--nrfiles={count // threads}",
               f"--numjobs={threads}", "--ioengine=psync", "--thread",
               "--fallocate=none", "--scramble_buffers=0", "--invalidate=0",
               "--file_service_type=sequential", "--group_reporting",
               "--output-format=json"]
    if direction == "write":
        command.append("--create_on_open=1")
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    text = done.stdout.decode()
    return json.loads(text[text.index("{"):])["jobs"][0][direction][
        "bw_bytes"] / 1e6


def fio_median(root, direction, size, threads, count):
    values = []
    for _ in range(TAKES):
        with tempfile.TemporaryDirectory(dir=root) as folder:
            if direction == "read":
                fio_once(folder, "write", size, threads, count)
            values.append(fio_once(folder, direction, size, threads, count))
    return statistics.median(values)


def compare_fio(args, store, root, sizes, volume):
    """One worker, TGBs of one size, so that both move the same files."""
    lines = ["| | object | raw MB/s | fio MB/s | raw of fio |",
             "|---|---|---|---|---|"]
    for what, direction in (("ingest", "write"), ("consume", "read")):
        for size in sizes:
            report = bench(args, what, store, "none", size, 1, volume)
            object_size = size * report["slices"]
            count = report["count"] - report["count"] % DEPTH
            fio = fio_median(root, direction, object_size, DEPTH, count)
            raw = report["raw"]["median"]
            lines.append(f"| {direction} | {name_of(object_size)} "
                         f"| {raw:.0f} | {fio:.0f} | {raw / fio:.2f} |")
    return lines


def make_part(args, part, volume):
    """The lines of a table, in a folder that is removed afterwards."""
    root = tempfile.mkdtemp(dir=args.disk if part == "disk" else args.tmpfs)
    store = "file://" + root
    try:
        if part == "disk":
            return grid(args, "ingest", store, "full",
                        (64 * KIB, MIB, 16 * MIB), (1, 4), volume)
        if part == "fio":
            return compare_fio(args, store, root, (64 * KIB, MIB, 16 * MIB),
                               volume)
        return grid(args, part, store, "none", SIZES, WORKERS, volume)
    finally:
        shutil.rmtree(root)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lakestream", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--tmpfs", default="/dev/shm")
    parser.add_argument("--disk", default="/tmp")
    # Less, and what is measured is how a reader starts.
    parser.add_argument("--volume", type=int, default=1024 * MIB,
                        help="bytes of a measurement")
    parser.add_argument("parts", nargs="*",
                        default=["ingest", "consume", "disk", "fio"])
    args = parser.parse_args()
    for part in args.parts:
        if part == "fio" and shutil.which("fio") is None:
            print("fio is not installed: that table stays", file=sys.stderr)
            continue
        lines = make_part(args, part, args.volume)
        path = os.path.join(args.out, f"core-{part}.md")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(
                [f"# Against the raw store: {part}", "",
                 f"Made by `speed_grid.py --volume {args.volume} {part}`, a part "
                 "of `make bench`; [core.md](core.md) says what it means.",
                 ""] + lines + [""]))
        print(path)


if __name__ == "__main__":
    main()
