#!/usr/bin/env python3
"""The raw client beside other S3 clients: rclone and s3cmd, where installed.

    other_clients.py URL --lakestream CLI

moves the same objects through each in turn, several rounds, and prints a table
of MB/s. Ours is the raw side of `lakestream bench`; all have four requests at a
time but for s3cmd, which has one. The server is found by AWS_ENDPOINT_URL_S3.
rclone's runs begin with its start, so a run has to be of seconds.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time
import urllib.parse

MIB = 1 << 20


def run(*words, **more):
    done = subprocess.run([str(word) for word in words],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=False, **more)
    if done.returncode != 0:
        raise SystemExit(f"{words[0]}: {done.stderr}")
    return done.stdout


def timed(*words, **more):
    start = time.monotonic()
    run(*words, **more)
    return time.monotonic() - start


class Ours:
    def __init__(self, args):
        self.args = args

    def rate(self, what):
        report = json.loads(run(
            self.args.lakestream, "bench", what, self.args.url, "--json",
            "--slices", 1, "--slice-size", self.args.mib * MIB, "--count",
            self.args.count))
        return report["raw"]["median"]

    def ingest(self):
        return self.rate("ingest")

    def consume(self):
        return self.rate("consume")


class Other:
    """Copies a folder to the bucket, and back into another one."""

    def __init__(self, args, folder):
        self.size = args.count * args.mib * MIB / 1e6
        self.here, self.there = folder / "here", folder / "there"
        self.bucket = urllib.parse.urlsplit(args.url).netloc

    def ingest(self):
        return self.size / self.put()

    def consume(self):
        shutil.rmtree(self.there, ignore_errors=True)
        self.there.mkdir()
        return self.size / self.get()


class Rclone(Other):
    def __init__(self, args, folder):
        super().__init__(args, folder)
        self.words = ["--transfers=4", "--checkers=4", "--ignore-times"]
        self.env = dict(
            os.environ, RCLONE_CONFIG_R_TYPE="s3", RCLONE_CONFIG_R_ENV_AUTH="1",
            RCLONE_CONFIG_R_PROVIDER="Ceph", RCLONE_CONFIG="/dev/null",
            RCLONE_CONFIG_R_ENDPOINT=os.environ["AWS_ENDPOINT_URL_S3"])

    def put(self):
        return timed("rclone", "copy", *self.words, self.here,
                     f"r:{self.bucket}/rclone", env=self.env)

    def get(self):
        return timed("rclone", "copy", *self.words, f"r:{self.bucket}/rclone",
                     self.there, env=self.env)


class S3cmd(Other):
    def __init__(self, args, folder):
        super().__init__(args, folder)
        host = urllib.parse.urlsplit(os.environ["AWS_ENDPOINT_URL_S3"]).netloc
        self.words = ["s3cmd", "--config=/dev/null", "--no-ssl", "--quiet",
                      f"--host={host}", f"--host-bucket={host}",
                      "--access_key=" + os.environ["AWS_ACCESS_KEY_ID"],
                      "--secret_key=" + os.environ["AWS_SECRET_ACCESS_KEY"],
                      "--multipart-chunk-size-mb=64", "--recursive"]

    def put(self):
        return timed(*self.words, "put", f"{self.here}/",
                     f"s3://{self.bucket}/s3cmd/")

    def get(self):
        return timed(*self.words, "get", f"s3://{self.bucket}/s3cmd/",
                     f"{self.there}/")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("url")
    parser.add_argument("--lakestream", required=True)
    parser.add_argument("--count", type=int, default=96, help="objects")
    parser.add_argument("--mib", type=int, default=8, help="of an object")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        folder = pathlib.Path(name)
        (folder / "here").mkdir()
        for i in range(args.count):
            (folder / "here" / f"{i}").write_bytes(os.urandom(args.mib * MIB))
        clients = {"ours": Ours(args)}
        for kind in (Rclone, S3cmd):
            if shutil.which(kind.__name__.lower()):
                clients[kind.__name__.lower()] = kind(args, folder)
        rates = {(client, what): [] for client in clients
                 for what in ("ingest", "consume")}
        for _ in range(args.rounds):
            for client, what in rates:
                rates[client, what].append(getattr(clients[client], what)())
    print("| | put MB/s | get MB/s |\n|---|---|---|")
    for client in clients:
        print(f"| {client} | " + " | ".join(
            f"{statistics.median(rates[client, what]):.0f} "
            f"({min(rates[client, what]):.0f} - {max(rates[client, what]):.0f})"
            for what in ("ingest", "consume")) + " |")


if __name__ == "__main__":
    main()
