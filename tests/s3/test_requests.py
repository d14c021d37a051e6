#!/usr/bin/env python3
# labels: slow s3
"""Requests are money: what a producer, a reader that follows it and a reclaim
may ask a store for, counted by the server, and that our own counts say the same.

    MARK_RANKS   ranks whose watermarks are read; with 4096 it takes some time
"""

import json
import os
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.environ.get("CASES", os.path.dirname(__file__)))
import lake  # noqa: E402
import rgw  # noqa: E402
from rude import Fault, Rude  # noqa: E402
from rude_store import MemoryStore  # noqa: E402

URL = "s3://bucket/run"
MARK_RANKS = int(os.environ.get("MARK_RANKS", "200"))
READERS = 8


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


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def write_for_all_ranks(store, url, words):
    """Rank 0's watermark, by all the others too."""
    lake.run("watermark", url, "--group", "g", "--run", "r.1", "--ranks",
             str(MARK_RANKS), "--rank", "0", "--step", "0", environment=words)
    (name, (body, _, _)), = [each for each in store.objects.items()
                             if "/watermark/" in each[0]]
    for rank in range(1, MARK_RANKS):
        key = name[:-1] + str(rank)
        own = body[:-len(',"crc32c":"00000000"}\n')].replace(
            name.partition("/")[2].encode(), key.partition("/")[2].encode())
        store.store(key, own + b',"crc32c":"%08x"}\n' % crc32c(own))


class Crowd:
    """Takes its time with watermarks, and tells how many are read at once."""

    def __init__(self, store):
        self.served = store.handle
        self.lock = threading.Lock()
        self.now = self.most = self.count = 0

    def handle(self, request):
        if request.method != "GET" or "/watermark/" not in request.path:
            return self.served(request)
        with self.lock:
            self.now += 1
            self.count += 1
            self.most = max(self.most, self.now)
        time.sleep(0.02)
        with self.lock:
            self.now -= 1
        return self.served(request)


def watermarks_are_read_once_and_a_few_at_a_time():
    store, url = MemoryStore(), "s3://bucket/many"
    with Rude(store) as rude:
        words = environment(rude)
        lake.run("init", url, "--dp", "1", "--cp", "1", environment=words)
        write_for_all_ranks(store, url, words)
        rude.requests.clear()
        crowd = Crowd(store)
        store.handle = crowd.handle
        began = time.monotonic()
        told = json.loads(lake.run("reclaim", url, "--dry-run", "--json",
                                   environment=words).stdout)
        print(f"{crowd.count} watermarks of 20 ms, {crowd.most} at once, in "
              f"{time.monotonic() - began:.1f} s; {dict(rude.requests)}")
        assert told["held_by"][0]["rank_count"] == MARK_RANKS, told
        assert crowd.count == MARK_RANKS
        assert 1 < crowd.most <= READERS, crowd.most


def main():
    store = MemoryStore()
    with Rude(store) as rude:
        lake.run("init", URL, "--dp", "1", "--cp", "1", "--producers",
                 str(lake.PRODUCERS), environment=environment(rude))
    a_reader_that_follows_never_lists_and_polls_within_bounds(store)
    what_is_told_is_what_the_server_saw(store)
    a_producer_alone_puts_once_per_tgb_and_few_per_commit(store)
    watermarks_are_read_once_and_a_few_at_a_time()


main()
