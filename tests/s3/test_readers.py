#!/usr/bin/env python3
# labels: slow s3
"""512 readers against a server that throttles: no storm of retries while it
does, and full speed soon after. Prints requests and reads over time; the figure
and the table of docs/benchmarks/s3.md are made by

    S3_PROGRAMS=build/dev/tests python3 tests/s3/test_readers.py docs/benchmarks
"""

import os
import pathlib
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(os.environ.get("CASES", os.path.dirname(__file__)))
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "bench" / "pacing")]
import pacing_plot  # noqa: E402
import rgw  # noqa: E402
from rude import Rude  # noqa: E402
from rude_store import MemoryStore, error  # noqa: E402

READERS = 512
PAUSE_MS = 2000  # Each asks about every two seconds.
SECONDS = 20
THROTTLED = (5, 11)  # Nearly all is refused in these seconds.
PER_S_WHILE_THROTTLED = 20


class Throttling(MemoryStore):
    """Serves so many a second, and refuses what is more."""

    def __init__(self):
        super().__init__()
        self.began = None
        self.window = 0
        self.served = 0
        self.counts = {}
        self.refused = {}
        self.gate = threading.Lock()

    def check(self, request):
        now = time.monotonic()
        with self.gate:
            if self.began is None and request.method == "GET":
                self.began = now
            at = now - (self.began or now)
            tick = int(at * 2)
            self.counts[tick] = self.counts.get(tick, 0) + 1
            if int(at) != self.window:
                self.window, self.served = int(at), 0
            self.served += 1
            if (THROTTLED[0] <= at < THROTTLED[1]
                    and self.served > PER_S_WHILE_THROTTLED):
                self.refused[tick] = self.refused.get(tick, 0) + 1
                return error(503, "SlowDown")
        return super().check(request)


def mean(values):
    return sum(values) / max(1, len(values))


def write(folder, rows, counts, refused):
    ticks = range(len(rows))
    series = [("requests", [counts.get(tick, 0) for tick in ticks]),
              ("refused", [refused.get(tick, 0) for tick in ticks]),
              ("reads", [good for good, _ in rows])]
    first, last = THROTTLED
    (folder / "s3-readers.svg").write_text(pacing_plot.lines(
        f"{READERS} readers; nearly all is refused from {first} to {last} s",
        "seconds", SECONDS, "in each half second", series))
    lines = ["# Readers while a server throttles", "",
             "What [s3.md](s3.md) shows as a figure, in each half second. Made "
             "by `tests/s3/test_readers.py`.", "",
             "| s | requests | refused | reads | given up |", "|---|---|---|---|---|"]
    for tick, (good, bad) in enumerate(rows):
        lines.append(f"| {tick / 2:.1f} | {counts.get(tick, 0)} | "
                     f"{refused.get(tick, 0)} | {good} | {bad} |")
    (folder / "s3-readers.md").write_text("\n".join(lines) + "\n")


def main():
    program = pathlib.Path(os.environ["S3_PROGRAMS"]) / "readers_s3"
    with Rude(Throttling()) as rude:
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith(("AWS_", "LAKESTREAM_"))}
        output = subprocess.run(
            [program, str(READERS), str(SECONDS), str(PAUSE_MS), "s3://bucket/r"],
            stdout=subprocess.PIPE, text=True, check=True, timeout=90,
            env={**kept, "AWS_ACCESS_KEY_ID": rgw.KEY,
                 "AWS_SECRET_ACCESS_KEY": rgw.SECRET,
                 "AWS_ENDPOINT_URL_S3": rude.endpoint}).stdout
        counts, refused = rude.backend.counts, rude.backend.refused
    rows = [tuple(map(int, line.split())) for line in output.splitlines()]
    print("   s  requests  reads  failed (each half second)")
    for tick, (good, bad) in enumerate(rows):
        sent = counts.get(tick, 0)
        print(f"{tick / 2:4.1f}  {sent:8}  {good:5}  {bad:6}  "
              f"{'#' * (sent // 8)}")
    if len(sys.argv) > 1:
        write(pathlib.Path(sys.argv[1]), rows, counts, refused)
    first, last = THROTTLED
    before = mean([good for good, _ in rows[4:2 * first]])
    storm = max(counts.get(tick, 0) for tick in range(2 * first, 2 * last))
    after = mean([good for good, _ in rows[2 * last + 6:]])
    normal = mean([counts.get(tick, 0) for tick in range(4, 2 * first)])
    print(f"reads {before:.0f} before, {after:.0f} from 3 s after; requests "
          f"{normal:.0f} before, at most {storm} while throttled")
    assert storm <= 3 * normal, "a storm of retries"
    assert after >= 0.8 * before, "it does not recover"
    assert sum(bad for _, bad in rows) == 0, "reads were given up"


main()
