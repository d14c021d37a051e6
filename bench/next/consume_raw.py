#!/usr/bin/env python3
"""Reading one rank's slices in Python against plain ranged GETs.

Three sides, in turn in each round, with as many requests at a time:

    consume   iterating a Consumer
    get       lks_object_get() by ctypes: the library's client without a stream
    http      http.client, as one would do it without the library; S3 only

The raw sides read ranges of the same length, at the same places, of objects as
large as the stream's. Prints a JSON object per slice size: MB/s and ratios, the
medians of all rounds, and the ratios' range.

    consume_raw.py URL --library build/release/liblakestream.so
    tests/s3/rgw.py sh -c 'PYTHON bench/next/consume_raw.py $LKS_S3_URL ...'
"""

import argparse
import concurrent.futures
import ctypes
import datetime
import http.client
import json
import os
import pathlib
import statistics
import sys
import threading
import time
import urllib.parse

import lakestream as ls

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/s3"))
import sigv4  # noqa: E402

SLICES, RANK = 4, 2


class Library:
    """Objects, by the C library."""

    def __init__(self, path, url):
        self._lib = ctypes.CDLL(path)
        self._error = ctypes.create_string_buffer(4096)
        self._store = ctypes.c_void_p()
        self._check(self._lib.lks_store_open(
            url.encode(), None, ctypes.byref(self._store), self._error))

    def _check(self, status):
        if status != 0:
            sys.exit(self._error.raw[4:].split(b"\0")[0].decode())

    def put(self, key, data):
        self._check(self._lib.lks_object_put(
            self._store, key.encode(), data, ctypes.c_size_t(len(data)),
            self._error))

    def reader(self):
        """get(key, offset, buffer), for one thread."""
        def get(key, offset, buffer):
            self._check(self._lib.lks_object_get(
                self._store, key.encode(), ctypes.c_uint64(offset),
                (ctypes.c_char * len(buffer)).from_buffer(buffer),
                ctypes.c_size_t(len(buffer)), self._error))
        return get


class Http:
    """The same by http.client, over one connection per thread."""

    def __init__(self, url):
        self._endpoint = urllib.parse.urlsplit(os.environ["AWS_ENDPOINT_URL_S3"])
        self._prefix = url.removeprefix("s3:/")

    def reader(self):
        connection = http.client.HTTPConnection(self._endpoint.netloc)
        local = self._endpoint.netloc

        def get(key, offset, buffer):
            path = f"{self._prefix}/{key}"
            now = datetime.datetime.now(datetime.timezone.utc)
            headers = {"host": local, "x-amz-content-sha256": sigv4.EMPTY,
                       "x-amz-date": now.strftime("%Y%m%dT%H%M%SZ"),
                       "range": f"bytes={offset}-{offset + len(buffer) - 1}"}
            headers["Authorization"] = authorization("GET", path, headers)
            connection.request("GET", path, headers=headers)
            with connection.getresponse() as reply:
                if reply.status != 206 or reply.readinto(buffer) != len(buffer):
                    sys.exit(f"{path}: HTTP {reply.status}")
                reply.read()
        return get


def authorization(method, path, headers):
    date, signed = headers["x-amz-date"], sorted(headers)
    scope = f"{date[:8]}/{os.environ['AWS_REGION']}/s3/aws4_request"
    canonical = sigv4.canonical_request(method, path, "", headers, signed,
                                        sigv4.EMPTY)
    mac = sigv4.signature(os.environ["AWS_SECRET_ACCESS_KEY"], date,
                          os.environ["AWS_REGION"], "s3", canonical)
    return (f"AWS4-HMAC-SHA256 Credential={os.environ['AWS_ACCESS_KEY_ID']}/"
            f"{scope}, SignedHeaders={';'.join(signed)}, Signature={mac}")


def fill(url, library, steps, size):
    ls.create(f"{url}/stream", dp=SLICES, durability="none")
    with ls.Producer(f"{url}/stream", "bench", durability="none") as producer:
        for step in range(steps):
            producer.append([bytes([step % 256]) * size] * SLICES)
        producer.finish()
    for step in range(steps):
        library.put(f"raw/{step}", bytes([step % 256]) * (size * SLICES))


def consume(url, steps, size, fetches):
    with ls.Consumer(f"{url}/stream", rank=RANK, fetches=fetches) as consumer:
        begin = time.perf_counter()
        for batch in consumer:
            view = memoryview(batch)
            assert len(view) == size and view[-1] == batch.step % 256
        return time.perf_counter() - begin


def get_all(side, steps, size, fetches):
    """Each thread takes the next step, into a buffer of its own."""
    numbers, mutex = iter(range(steps)), threading.Lock()

    def work():
        get, buffer = side.reader(), bytearray(size)
        while True:
            with mutex:
                step = next(numbers, None)
            if step is None:
                return
            get(f"raw/{step}", RANK * size, buffer)
            assert buffer[-1] == step % 256

    with concurrent.futures.ThreadPoolExecutor(fetches) as pool:
        begin = time.perf_counter()
        for task in [pool.submit(work) for _ in range(fetches)]:
            task.result()
        return time.perf_counter() - begin


def measure(url, arguments, size):
    steps = max(16, min(1024, arguments.bytes // size))
    library = Library(arguments.library, url)
    fill(url, library, steps, size)
    sides = {"consume": lambda: consume(url, steps, size, arguments.fetches),
             "get": lambda: get_all(library, steps, size, arguments.fetches)}
    if url.startswith("s3:"):
        plain = Http(url)
        sides["http"] = lambda: get_all(plain, steps, size, arguments.fetches)
    times = {name: [] for name in sides}
    for turn in range(arguments.rounds + 1):
        order = list(sides) if turn % 2 else list(reversed(sides))
        for name in order:
            seconds = sides[name]()
            if turn > 0:  # the first round only warms up
                times[name].append(seconds)
    row = {"slice": size, "steps": steps, "rounds": arguments.rounds}
    for name, seconds in times.items():
        row[f"{name}_mb_s"] = round(
            steps * size / statistics.median(seconds) / 1e6, 1)
    for name in list(times)[1:]:
        ratios = sorted(raw / ours for raw, ours
                        in zip(times[name], times["consume"]))
        row[f"of_{name}"] = round(statistics.median(ratios), 3)
        row[f"of_{name}_range"] = [round(ratios[0], 3), round(ratios[-1], 3)]
    return row


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("--library", required=True)
    parser.add_argument("--fetches", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--bytes", type=int, default=128 << 20)
    parser.add_argument("--kib", type=int, nargs="*", default=[64, 1024, 8192])
    arguments = parser.parse_args()
    for kib in arguments.kib:
        print(json.dumps(measure(f"{arguments.url}/{kib}", arguments,
                                 kib << 10)), flush=True)


if __name__ == "__main__":
    main()
