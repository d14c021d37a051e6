#!/usr/bin/env python3
# labels: slow s3
"""It waits for nothing, and says what it waited for: ends in under a second
when the server is a black hole, gives up on time, and names operation, key,
range, status and request id.
"""

import os
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.environ.get("CASES", os.path.dirname(__file__)))
import lake  # noqa: E402
import rgw  # noqa: E402
from rude import Fault, Rude  # noqa: E402
from rude_store import MemoryStore, error  # noqa: E402

URL = "s3://bucket/run"


def environment(rude, **more):
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("AWS_", "LAKESTREAM_"))}
    return {**kept, "AWS_ACCESS_KEY_ID": rgw.KEY,
            "AWS_SECRET_ACCESS_KEY": rgw.SECRET,
            "AWS_ENDPOINT_URL_S3": rude.endpoint,
            **{f"LAKESTREAM_{name}": value for name, value in more.items()}}


def make_stream(rude, **more):
    lake.run("init", URL, "--dp", "1", "--cp", "1",
             environment=environment(rude, **more))


def ends_soon_when_asked(words, rude, hole):
    """It is in the middle of its work when the server becomes a hole."""
    process = subprocess.Popen([lake.LAKESTREAM, *words], text=True,
                               env=environment(rude), stderr=subprocess.PIPE,
                               stdout=subprocess.DEVNULL)
    time.sleep(0.7)
    hole.on = True
    time.sleep(0.7)
    assert process.poll() is None, process.stderr.read()
    began = time.monotonic()
    process.send_signal(signal.SIGTERM)
    process.wait(timeout=20)
    took = time.monotonic() - began
    process.stderr.close()
    hole.on = False
    print(f"{words[0]}: ended {took * 1000:.0f} ms after it was asked to")
    assert took < 1.0, took


def a_black_hole_does_not_keep_anybody():
    hole = Fault("hole", seconds=60)
    hole.on = False
    delay = Fault("delay", seconds=0.02)
    with Rude(MemoryStore(), hole, delay) as rude:
        make_stream(rude)
        inputs = lake.make_inputs()
        pack = ["pack", URL, "--seq-len", "64", *inputs, "--producer"]
        ends_soon_when_asked(pack + ["p0", "--commit-gap-ms", "5000"], rude,
                             hole)
        lake.run(*pack, "p1", environment=environment(rude))
        ends_soon_when_asked(["consume", URL, "--rank", "0", "--hash"], rude,
                             hole)


def a_host_that_is_not_there_is_named():
    with Rude(MemoryStore()) as rude:
        words = environment(rude, RETRY_TIMEOUT_MS="300")
    result = lake.run("info", URL, environment=words, check=False)
    assert result.returncode == 1
    assert "not sent: Failed to connect to 127.0.0.1" in result.stderr, \
        result.stderr
    words["AWS_ENDPOINT_URL_S3"] = "http://127.0.0.1:"
    result = lake.run("info", URL, environment=words, check=False)
    assert "'http://127.0.0.1:' is not http://host" in result.stderr, \
        result.stderr


def a_stream_that_is_not_there_is_told_with_its_server():
    with Rude(MemoryStore()) as rude:
        result = lake.run("info", URL, environment=environment(rude),
                          check=False)
        assert f"it has no stream.json at {rude.endpoint}, " in result.stderr, \
            result.stderr


def a_wait_for_a_store_is_told_once():
    with Rude(MemoryStore()) as rude:
        words = environment(rude, RETRY_TIMEOUT_MS="9000")
    for command in (["info", URL, "--json"],
                    ["init", URL, "--dp", "1", "--cp", "1"]):
        result = lake.run(*command, environment=words, check=False)
        assert result.returncode == 1
        told = [line for line in result.stderr.splitlines()
                if "[outage] still trying s3://bucket/run: not sent" in line]
        assert len(told) == 1, result.stderr
        assert result.stdout == "", result.stdout


def a_place_that_cannot_be_right_is_given_up():
    with Rude(MemoryStore()) as rude:
        words = environment(rude)
        for endpoint in (rude.endpoint.replace("http:", "https:"),
                         "http://nobody.invalid:1"):
            words["AWS_ENDPOINT_URL_S3"] = endpoint
            began = time.monotonic()
            result = lake.run("info", URL, environment=words, check=False)
            assert result.returncode == 1
            print(result.stderr.strip())
            assert "not sent: " in result.stderr, result.stderr
            # And not after the minute that an outage is waited for.
            assert time.monotonic() - began < 40


def says(reply, pattern, **more):
    say = Fault("say", seconds=reply)
    say.on = False
    with Rude(MemoryStore(), say) as rude:
        make_stream(rude)
        say.on = True
        began = time.monotonic()
        result = lake.run("info", URL, check=False, environment=environment(
            rude, RETRY_TIMEOUT_MS="1000", **more))
        took = time.monotonic() - began
    assert result.returncode == 1
    assert result.stderr.count("\n") == 1, result.stderr
    assert re.search(pattern, result.stderr), result.stderr
    assert took < 3, took


def an_error_names_all_there_is_to_know():
    says(error(503, "SlowDown", "Reduce your rate."),
         r"get s3://bucket/run/stream\.json bytes 0-\d+: HTTP 503 SlowDown "
         r"after \d+ tries, request id rude-1: Reduce your rate\.")
    says(error(403, "AccessDenied", "No."),
         r"get s3://bucket/run/stream\.json bytes 0-\d+: HTTP 403 "
         r"AccessDenied, request id rude-1: No\.")
    says(error(404, "NoSuchBucket"), r"HTTP 404 NoSuchBucket")
    says((502, {}, b"<html>Bad Gateway</html>"), r"HTTP 502 after \d+ tries")


def a_slow_start_is_given_up_and_named():
    hole = Fault("hole", seconds=60)
    hole.on = False
    with Rude(MemoryStore(), hole) as rude:
        make_stream(rude)
        hole.on = True
        began = time.monotonic()
        result = lake.run("info", URL, check=False, environment=environment(
            rude, RETRY_TIMEOUT_MS="800", FIRST_BYTE_TIMEOUT_MS="200"))
        assert "no whole reply: no answer in 200 ms after" in result.stderr, \
            result.stderr
        assert time.monotonic() - began < 3


def a_public_bucket_is_read_without_keys():
    class Public(MemoryStore):
        def check(self, request):
            if request.method in ("GET", "HEAD"):
                return None
            return super().check(request)

    with Rude(Public()) as rude:
        make_stream(rude)
        words = environment(rude, S3_CREDENTIALS="none")
        del words["AWS_ACCESS_KEY_ID"], words["AWS_SECRET_ACCESS_KEY"]
        lake.run("info", URL, environment=words)
        refused = lake.run("put", URL, "--producer", "p", "--seq", "1",
                           "/dev/null", environment=words, check=False)
        assert refused.returncode != 0


def a_store_that_ignores_the_condition_is_refused():
    with Rude(MemoryStore(conditional=False)) as rude:
        result = lake.run("init", URL, "--dp", "1", "--cp", "1", check=False,
                          environment=environment(rude))
        assert result.returncode == 1
        print(result.stderr.strip())
        assert "create-if-present" in result.stderr, result.stderr


def main():
    for test in (a_black_hole_does_not_keep_anybody,
                 a_host_that_is_not_there_is_named,
                 a_stream_that_is_not_there_is_told_with_its_server,
                 a_wait_for_a_store_is_told_once,
                 a_place_that_cannot_be_right_is_given_up,
                 an_error_names_all_there_is_to_know,
                 a_slow_start_is_given_up_and_named,
                 a_public_bucket_is_read_without_keys,
                 a_store_that_ignores_the_condition_is_refused):
        test()
        print(f"ok {test.__name__}", flush=True)


main()
