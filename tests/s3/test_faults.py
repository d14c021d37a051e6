#!/usr/bin/env python3
# labels: slow s3
"""The fault matrix: eight producers and a consumer against a server that
misbehaves in one way at a time. Exactly once holds under each, and every row
ends by itself. A row's names may be given to run only these.
"""

import os
import sys
import time

sys.path.insert(0, os.environ.get("CASES", os.path.dirname(__file__)))
import lake  # noqa: E402
import rgw  # noqa: E402
from rude import Fault, Rude  # noqa: E402
from rude_store import MemoryStore  # noqa: E402

# What a producer meets. The share is of all requests that it may strike.
WRITE_ROWS = {
    "nothing": [],
    "lost replies": [Fault("lost_reply", 0.2, writes=True)],
    "lost requests": [Fault("lost_request", 0.2)],
    "late writes": [Fault("late_write", 0.2, writes=True, seconds=0.4)],
    "409 once": [Fault("conflict", writes=True, creates=True,
                       once_per_key=True)],
    "409 often": [Fault("conflict", 0.3, creates=True)],
    "throttled": [Fault("throttle", 0.15)],
    "3 s of 503": [Fault("throttle", lasts=3)],
    "500 for what was done": [Fault("failed_after", 0.2, writes=True)],
    "resets": [Fault("reset", 0.2)],
    "a hole": [Fault("hole", 0.05, seconds=60)],
}

# What a consumer meets.
READ_ROWS = {
    "cut bodies": [Fault("cut", 0.3, writes=False)],
    "trickling bodies": [Fault("trickle", 0.02, writes=False, seconds=5)],
    "short ranges": [Fault("short", 0.3, writes=False)],
    "ranges that lie": [Fault("wrong_range", 0.3, writes=False)],
    "throttled reads": [Fault("throttle", 0.15, writes=False)],
    "resets of reads": [Fault("reset", 0.3, writes=False)],
    "holes in reads": [Fault("hole", 0.05, writes=False, seconds=60)],
}

LIMITS = {
    "LAKESTREAM_FIRST_BYTE_TIMEOUT_MS": "400",
    "LAKESTREAM_STALL_TIMEOUT_MS": "1000",
    "LAKESTREAM_COMMIT_GAP_MS": "10",
}


def environment(rude):
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("AWS_", "LAKESTREAM_"))}
    return {**kept, **LIMITS, "AWS_ACCESS_KEY_ID": rgw.KEY,
            "AWS_SECRET_ACCESS_KEY": rgw.SECRET, "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL_S3": rude.endpoint}


def report(name, rude, steps, began):
    struck = sum(fault.count for fault in rude.faults)
    print(f"{name:24} {struck:5} of {sum(rude.requests.values()):5} requests "
          f"struck, {steps} steps, {time.monotonic() - began:5.1f} s: holds",
          flush=True)


def write_row(name, faults, inputs):
    began = time.monotonic()
    with Rude(MemoryStore(), *faults) as rude:
        url, words = "s3://bucket/run", environment(rude)
        for fault in faults:
            fault.on = False
        lake.run("init", url, "--dp", "1", "--cp", "1", "--producers",
                 str(len(inputs)), environment=words)
        for fault in faults:
            fault.on = True
        lake.pack_all(url, inputs, words)
        for fault in faults:
            fault.on = False
        steps = lake.check_exactly_once(url, inputs, words)
        report(name, rude, steps, began)


def read_rows(rows, inputs):
    """One stream, written in peace, and read under each fault."""
    with Rude(MemoryStore()) as rude:
        url, words = "s3://bucket/run", environment(rude)
        lake.run("init", url, "--dp", "1", "--cp", "1", "--producers",
                 str(len(inputs)), environment=words)
        lake.pack_all(url, inputs, words)
        expected = lake.hashes(url, words)
        for name, faults in rows.items():
            began = time.monotonic()
            rude.faults = faults
            rude.requests.clear()
            if lake.hashes(url, words) != expected:
                raise AssertionError(f"{name}: other bytes were read")
            report(name, rude, expected.count("\n"), began)
        rude.faults = []


def main():
    wanted = sys.argv[1:]
    inputs = lake.make_inputs()
    failed = 0
    for name, faults in WRITE_ROWS.items():
        if wanted and name not in wanted:
            continue
        try:
            write_row(name, faults, inputs)
        except AssertionError as trouble:
            print(f"{name:24} FAILED: {trouble}", flush=True)
            failed += 1
    rows = {name: faults for name, faults in READ_ROWS.items()
            if not wanted or name in wanted}
    if rows:
        read_rows(rows, inputs)
    sys.exit(1 if failed else 0)


main()
