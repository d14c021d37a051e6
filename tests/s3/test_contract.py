#!/usr/bin/env python3
# labels: slow s3
"""The S3 store keeps the contract on a real server, Ceph's gateway."""

import os
import pathlib
import subprocess
import sys

sys.path.insert(0, os.environ["CASES"])
import rgw  # noqa: E402


def main():
    program = pathlib.Path(os.environ["S3_PROGRAMS"]) / "contract_s3"
    with rgw.Gateway() as gateway:
        environment = gateway.environment()
        # Its large object goes up in parts and is read in pieces.
        environment["LAKESTREAM_MULTIPART_BYTES"] = "5MiB"
        environment["LAKESTREAM_PART_BYTES"] = "5MiB"
        environment["LKS_S3_URL"] = f"s3://{gateway.make_bucket()}/run"
        sys.exit(subprocess.run([program], env=environment).returncode)


main()
