#!/usr/bin/env python3
"""Puts all ranks' slices together again, and compares with the files.

    reassemble.py URL PRODUCER FILE... [-- PRODUCER FILE...]...

FILEs are what the producer packed, in order: text, or tokens if they end in
.bin or .npy. Every token must be there once, in order, then padding alone, and
labels must be the tokens shifted by one. Prints what was found.
"""

import json
import os
import struct
import subprocess
import sys

WIDTHS = {"U16": ("H", 2), "U32": ("I", 4), "I32": ("i", 4)}
END = 256


def lakestream(*arguments):
    return subprocess.run([os.environ["LAKESTREAM"], *arguments], check=True,
                          stdout=subprocess.PIPE).stdout


def split(data):
    """The safetensors blobs that follow each other in `data`."""
    blobs = []
    while data:
        size, = struct.unpack_from("<Q", data)
        tensors = json.loads(data[8:8 + size])
        tensors.pop("__metadata__", None)
        size += 8 + max(t["data_offsets"][1] for t in tensors.values())
        assert size <= len(data), "a slice is cut"
        blobs.append(data[:size])
        data = data[size:]
    return blobs


def tensors_of(blob, where):
    """{name: (dtype, rows of tokens)} and the metadata of one slice."""
    size = struct.unpack_from("<Q", blob)[0]
    header = json.loads(blob[8:8 + size])
    metadata = header.pop("__metadata__", {})
    data = blob[8 + size:]
    assert (8 + size) % 64 == 0, f"{where}: data starts at {8 + size}"
    tensors, at = {}, 0
    for name, tensor in header.items():
        begin, end = tensor["data_offsets"]
        assert begin == at, f"{where}: a hole before {name}"
        at = end
        rows, columns = tensor["shape"]
        code, width = WIDTHS[tensor["dtype"]]
        assert end - begin == rows * columns * width, f"{where}: size of {name}"
        flat = struct.unpack(f"<{rows * columns}{code}", data[begin:end])
        tensors[name] = tensor["dtype"], [
            flat[row * columns:(row + 1) * columns] for row in range(rows)]
    assert at == len(data), f"{where}: {len(data) - at} bytes too many"
    return tensors, metadata


def join_row(parts, layout):
    """A row from what its cp ranks have of it."""
    if layout == "contiguous":
        return [token for part in parts for token in part]
    half = len(parts[0]) // 2
    chunks = [part[:half] for part in parts]
    chunks += [part[half:] for part in reversed(parts)]
    return [token for chunk in chunks for token in chunk]


def read_ranks(url, info):
    """For each rank its slices by step, of which `get` shows the same."""
    last = info["next_step"] - 1
    ranks = []
    for rank in map(str, range(info["dp"] * info["cp"])):
        ranks.append(split(lakestream("consume", url, "--rank", rank, "--raw",
                                      "--from", "0", "--to", str(last + 1))))
        assert len(ranks[-1]) == last + 1, f"rank {rank}: a step is missing"
    if last >= 0:
        assert ranks[-1][last] == lakestream("get", url, "--step", str(last),
                                             "--rank", rank)
    return ranks


def read_log(url):
    return [json.loads(line) for line in
            lakestream("log", url, "--json").splitlines()]


def read_producer(producer, info, log, ranks):
    """All its tokens and labels, as packed; and their type."""
    columns = {"tokens": [], "labels": []}
    dtype, seq = "U16", 0
    for entry in log:
        if entry["producer"] != producer:
            continue
        step = entry["step"]
        assert entry["seq"] == seq, f"seq {entry['seq']} follows {seq - 1}"
        seq += 1
        for d in range(info["dp"]):
            slices = [tensors_of(ranks[rank][step], f"step {step} rank {rank}")
                      for rank in range(d * info["cp"], (d + 1) * info["cp"])]
            layout = slices[0][1]["cp_layout"]
            for name in slices[0][0]:
                dtype = slices[0][0][name][0]
                for rows in zip(*(tensors[name][1] for tensors, _ in slices)):
                    columns[name] += join_row(rows, layout)
    return columns["tokens"], columns["labels"], dtype, seq


def tokens_of(path, dtype):
    with open(path, "rb") as file:
        data = file.read()
    code, width = WIDTHS[dtype]
    if path.endswith(b".npy"):
        data = data[10 + struct.unpack_from("<H", data, 8)[0]:]
    elif not path.endswith(b".bin"):
        return [*data, END]
    return list(struct.unpack(f"<{len(data) // width}{code}", data))


def check(producer, files, *stream):
    tokens, labels, dtype, tgbs = read_producer(producer, *stream)
    wanted = [token for path in files for token in tokens_of(path, dtype)]
    kept = min(len(wanted), len(tokens))
    assert tokens[:kept] == wanted[:kept], "the tokens are not the files'"
    padding = set(tokens[kept:])
    assert len(padding) <= 1, f"padding of {padding}"
    if labels:
        assert labels[:-1] == tokens[1:], "labels are not the next tokens"
    print(f"{tgbs} TGBs of {dtype}: {kept} of {len(wanted)} tokens, "
          f"{len(tokens) - kept} padding"
          + (f", last label {labels[-1]}" if labels else ""))


def main():
    url, words = sys.argv[1], sys.argv[2:]
    info = json.loads(lakestream("info", url, "--json"))
    stream = info, read_log(url), read_ranks(url, info)
    while words:
        end = words.index("--") if "--" in words else len(words)
        check(words[0], [os.fsencode(name) for name in words[1:end]], *stream)
        words = words[end + 1:]


if __name__ == "__main__":
    main()
