#!/usr/bin/env python3
# labels: slow s3
"""A producer that is killed in the middle of an upload in parts leaves parts
that no listing of objects shows. Reclaim ends that upload once its epoch is
over, and never one of a producer that is alive, however slow.
"""

import json
import os
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, os.environ.get("CASES", os.path.dirname(__file__)))
import lake  # noqa: E402
import rgw  # noqa: E402
from rude import Fault, Forward, Rude  # noqa: E402
from rude_store import MemoryStore, error  # noqa: E402

TOKENS = 6 << 20  # A TGB of 12 MiB: two parts and a little.


def environment(endpoint):
    return {**{name: value for name, value in os.environ.items()
               if not name.startswith(("AWS_", "LAKESTREAM_"))},
            "AWS_ACCESS_KEY_ID": rgw.KEY, "AWS_SECRET_ACCESS_KEY": rgw.SECRET,
            "AWS_ENDPOINT_URL_S3": endpoint,
            "LAKESTREAM_MULTIPART_BYTES": "5MiB",
            "LAKESTREAM_PART_BYTES": "5MiB", "LAKESTREAM_PART_TRANSFERS": "1",
            "LAKESTREAM_FIRST_BYTE_TIMEOUT_MS": "600000",
            "LAKESTREAM_REQUEST_TIMEOUT_MS": "600000"}


def stuck_after(part):
    """The parts from this one on are let through when the test says so."""
    fault = Fault("hole", seconds=600)
    fault.seen_parts = set()

    def strikes(request):
        number = int(request.query.get("partNumber", 0))
        fault.seen_parts.add(number)
        return fault.on and number >= part

    fault.strikes = strikes
    return fault


def pack(url, endpoint):
    return subprocess.Popen(
        [lake.LAKESTREAM, "pack", url, "--producer", "p0", "--seq-len",
         str(TOKENS), "--last", "drop", "--finish", "text"],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        env=environment(endpoint))


def wait_for_part(fault, part, process):
    while part not in fault.seen_parts:
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.05)


def reclaim(url, endpoint, *words):
    told = lake.run("reclaim", url, "--json", *words,
                    environment=environment(endpoint)).stdout
    report = json.loads(told)
    assert "uploads_unseen" not in report, report
    return (report["removed"]["uploads"]["count"],
            report["left"]["uploads"]["count"])


def uploads_of_the_dead_are_ended_and_of_the_living_never(url, backend, place):
    lake.run("init", url, "--dp", "1", "--cp", "1",
             environment=environment(place))
    fault = stuck_after(2)
    with Rude(backend, fault) as rude:
        process = pack(url, rude.endpoint)
        wait_for_part(fault, 2, process)
        process.kill()
        process.wait()
        process.stderr.close()
    # Its epoch is the newest: for all that can be known it is alive.
    assert reclaim(url, place, "--dry-run") == (0, 1)
    assert reclaim(url, place) == (0, 1)

    fault = Fault("delay", seconds=2)  # Slow, and alive.
    fault.seen_parts = set()
    struck = fault.strikes

    def strikes(request):
        fault.seen_parts.add(int(request.query.get("partNumber", 0)))
        return "partNumber" in request.query and struck(request)

    fault.strikes = strikes
    with Rude(backend, fault) as rude:
        process = pack(url, rude.endpoint)
        wait_for_part(fault, 1, process)
        assert reclaim(url, place, "--dry-run") == (1, 1)
        assert reclaim(url, place) == (1, 1)
        assert reclaim(url, place) == (0, 1)
        _, said = process.communicate(timeout=120)
        assert process.returncode == 0, said
    assert reclaim(url, place) == (0, 0)
    lake.run("verify", url, "--data", environment=environment(place))


def who_may_not_list_uploads_is_told_and_reclaims(backend):
    url = "s3://bucket/denied"
    fault = Fault("say", seconds=error(403, "AccessDenied"))
    fault.strikes = lambda request: (request.method == "GET"
                                     and "uploads" in request.query)
    with Rude(backend, fault) as rude:
        words = environment(rude.endpoint)
        lake.run("init", url, "--dp", "1", "--cp", "1", environment=words)
        said = lake.run("reclaim", url, environment=words).stdout
        assert "unfinished uploads were not looked for" in said, said
        assert "AccessDenied" in said, said


def main():
    pathlib.Path("text").write_bytes(bytes(range(256)) * (TOKENS // 256))
    memory = MemoryStore()
    with Rude(memory) as rude:
        uploads_of_the_dead_are_ended_and_of_the_living_never(
            "s3://bucket/run", memory, rude.endpoint)
    assert not memory.uploads
    who_may_not_list_uploads_is_told_and_reclaims(memory)
    with rgw.Gateway() as gateway:
        place = gateway.environment()["AWS_ENDPOINT_URL_S3"]
        uploads_of_the_dead_are_ended_and_of_the_living_never(
            f"s3://{gateway.make_bucket()}/run", Forward(place), place)
    print("ok")


main()
