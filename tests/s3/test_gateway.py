#!/usr/bin/env python3
# labels: slow s3
"""The whole way on Ceph's gateway, in peace and behind a proxy that loses,
delays and refuses: exactly once with eight producers, and what it costs.
"""

import json
import os
import sys
import time

sys.path.insert(0, os.environ.get("CASES", os.path.dirname(__file__)))
import lake  # noqa: E402
import rgw  # noqa: E402
from rude import Fault, Forward, Rude  # noqa: E402

ROWS = {
    "nothing": [],
    "lost replies": [Fault("lost_reply", 0.1, writes=True)],
    "late writes": [Fault("late_write", 0.1, writes=True, seconds=0.5)],
    "409": [Fault("conflict", 0.3, creates=True)],
    "503 and 429": [Fault("throttle", 0.1)],
    "resets": [Fault("reset", 0.1)],
}


def row(name, faults, gateway, inputs):
    began = time.monotonic()
    with Rude(Forward(gateway.endpoint), *faults) as rude:
        url = f"s3://{gateway.make_bucket()}/run"
        direct = gateway.environment()
        lake.run("init", url, "--dp", "1", "--cp", "1", "--producers",
                 str(len(inputs)), environment=direct)
        lake.pack_all(url, inputs, gateway.environment(rude.endpoint))
        steps = lake.check_exactly_once(url, inputs, direct)
        print(f"{name:14} {sum(fault.count for fault in faults):4} of "
              f"{sum(rude.requests.values()):5} requests struck, {steps} "
              f"steps, {time.monotonic() - began:5.1f} s: holds", flush=True)
        return url


def reading_needs_no_listing(gateway, url):
    """Requests are money: what a steady reader may ask for."""
    with Rude(Forward(gateway.endpoint)) as rude:
        words = gateway.environment(rude.endpoint)
        steps = lake.hashes(url, words).count("\n")
        asked = dict(rude.requests)
        print(f"a reader of {steps} steps sent {asked}")
        assert asked.get("LIST", 0) <= 1, asked
        assert asked["GET"] <= steps + 10, asked
        assert set(asked) <= {"GET", "LIST", "HEAD"}, asked


def main():
    inputs = lake.make_inputs()
    with rgw.Gateway() as gateway:
        url = f"s3://{gateway.make_bucket()}/run"
        probed = lake.run("probe", url, "--json",
                          environment=gateway.environment())
        assert json.loads(probed.stdout)["ok"], probed.stdout
        for name, faults in ROWS.items():
            url = row(name, faults, gateway, inputs)
        reading_needs_no_listing(gateway, url)


main()
