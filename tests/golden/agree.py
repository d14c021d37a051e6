#!/usr/bin/env python3
"""Whether the second reader and the command line read a stream alike.

agree.py FOLDER prints what reader.py does, after having held it against
`log`, `info`, `verify --data` and `consume --hash` of $LAKESTREAM.
"""
import json
import os
import pathlib
import subprocess
import sys

import reader


def lakestream(*arguments):
    return subprocess.run([os.environ["LAKESTREAM"], *arguments], check=True,
                          stdout=subprocess.PIPE, text=True).stdout


def same(ours, theirs, what):
    if ours != theirs:
        sys.exit(f"{what}: the reader has {ours}, the command line {theirs}")


def compare(url, lines):
    info = json.loads(lakestream("info", url, "--json"))
    *steps, end = [line.split() for line in lines]
    groups = [step for step in steps if step[0] == "group"]
    steps = [step for step in steps if step[0] != "group"]
    same(end, ["end", str(info["next_step"]),
               "ended" if info["ended"] else "open"], "end")

    same(groups, [["group", group["name"], str(group["step"])]
                  for group in info["groups"]], "groups")

    log = [json.loads(line)
           for line in lakestream("log", url, "--json").splitlines()]
    same([step[:6] for step in steps],
         [[str(entry[key]) for key in ("step", "producer", "epoch", "seq",
                                       "bytes", "version")] for entry in log],
         "log")

    # A mesh of dp 1 has each cp rank read its slices of all dp at once.
    for rank in range(info["cp"]):
        hashes = lakestream("consume", url, "--hash", "--dp", "1", "--cp",
                            str(info["cp"]), "--rank", str(rank),
                            "--to", str(info["next_step"]))
        same([[step[0], step[8 + rank]] for step in steps],
             [line.split()[:2] for line in hashes.splitlines()],
             f"hashes of cp rank {rank}")

    verified = json.loads(lakestream("verify", url, "--data", "--json"))
    same((True, len(steps), []), (verified["ok"], verified["steps"],
                                  verified["problems"]), "verify")


def main():
    lines = list(reader.Stream(pathlib.Path(sys.argv[1])).lines())
    compare(sys.argv[1], lines)
    print("\n".join(lines))


if __name__ == "__main__":
    main()
