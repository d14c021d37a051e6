#!/usr/bin/env python3
# labels: slow s3
"""Requests are money: what a producer and a reader that follows it may ask a
store for, counted by the server, and that our own counts say the same.
"""

import json
import os
import subprocess
import sys

sys.path.insert(0, os.environ.get("CASES", os.path.dirname(__file__)))
import lake  # noqa: E402
import rgw  # noqa: E402
from rude import Fault, Rude  # noqa: E402
from rude_store import MemoryStore  # noqa: E402

URL = "s3://bucket/run"


def environment(rude):
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("AWS_", "LAKESTREAM_"))}
    return {**kept, "AWS_ACCESS_KEY_ID": rgw.KEY,
            "AWS_SECRET_ACCESS_KEY": rgw.SECRET,
            "AWS_ENDPOINT_URL_S3": rude.endpoint}


def what_is_told_is_what_the_server_saw(store):
    with Rude(store) as rude:
        info = json.loads(lake.run("info", URL, "--json",
                                   environment=environment(rude)).stdout)
        told, seen = info["requests"], rude.requests
        print(f"info tells {told}, the server saw {dict(seen)}")
        assert (told["gets"], told["lists"]) == (seen["GET"], seen["LIST"])
        assert sum(told.values()) == sum(seen.values())


def a_reader_that_follows_never_lists_and_polls_within_bounds(store):
    """It opens at an empty stream and takes each step as it comes."""
    slow = Fault("delay", seconds=0.01)
    inputs = lake.make_inputs()
    with Rude(store, slow) as writing, Rude(store, slow) as reading:
        reader = subprocess.Popen(
            [lake.LAKESTREAM, "consume", URL, "--rank", "0", "--hash"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=environment(reading))
        try:
            lake.pack_all(URL, inputs, environment(writing))
            out, err = reader.communicate(timeout=60)
        finally:
            reader.kill()
            reader.wait()
        assert reader.returncode == 0, err
        steps, asked = out.count("\n"), reading.requests
        seconds = reading.times[-1] - reading.times[0]
        # A get per step, and one per manifest or per poll_ms of 20.
        budget = steps + min(steps, 50 * seconds) + 50 * seconds + 10
        print(f"a reader of {steps} steps in {seconds:.1f} s sent "
              f"{dict(asked)}; at most {budget:.0f} GETs")
        assert asked["LIST"] <= 1, asked
        assert asked["GET"] <= budget, asked
        assert set(asked) <= {"GET", "LIST"}, asked


def a_producer_alone_puts_once_per_tgb_and_few_per_commit(store):
    with Rude(store) as rude:
        words = environment(rude)
        report = json.loads(lake.run(
            "bench", "ingest", "s3://bucket/bench", "--slice-size", "4KiB",
            "--slices", "1", "--count", "64", "--json",
            environment=words).stdout)
        own = (report["requests_per_tgb"]["ours"]
               - report["requests_per_commit"] / report["tgbs_per_commit"])
        print(f"of a TGB: {own:.3f} puts; of a commit: "
              f"{report['requests_per_commit']:.2f} requests for "
              f"{report['tgbs_per_commit']:.1f} TGBs")
        assert report["requests_per_tgb"]["raw"] == 1
        assert abs(own - 1) < 1e-3
        assert report["requests_per_commit"] < 8
        report = json.loads(lake.run(
            "bench", "consume", "s3://bucket/bench", "--slice-size", "4KiB",
            "--slices", "1", "--count", "200", "--json",
            environment=words).stdout)
        print(f"of a step: {report['requests_per_step']}")
        assert report["requests_per_step"]["raw"] == 1
        assert report["requests_per_step"]["ours"] < 1.1


def main():
    store = MemoryStore()
    with Rude(store) as rude:
        lake.run("init", URL, "--dp", "1", "--cp", "1", "--producers",
                 str(lake.PRODUCERS), environment=environment(rude))
    a_reader_that_follows_never_lists_and_polls_within_bounds(store)
    what_is_told_is_what_the_server_saw(store)
    a_producer_alone_puts_once_per_tgb_and_few_per_commit(store)


main()
