#!/usr/bin/env python3
# labels: slow s3
"""Producers killed at random on Ceph's gateway: a few rounds of the crash
suite. For more of them:

    python3 tests/s3/rgw.py sh -c 'python3 tests/crash/crash.py \\
        --cli PROGRAM --rounds 50 --store $LKS_S3_URL'
"""

import os
import pathlib
import subprocess
import sys

CASES = pathlib.Path(os.environ.get("CASES", os.path.dirname(__file__)))
sys.path.insert(0, str(CASES))
import rgw  # noqa: E402

ROUNDS = 3


def main():
    with rgw.Gateway() as gateway:
        sys.exit(subprocess.run(
            [sys.executable, CASES.parent / "crash" / "crash.py", "--rounds",
             str(ROUNDS), "--store", f"s3://{gateway.make_bucket()}/crash"],
            env=gateway.environment()).returncode)


main()
