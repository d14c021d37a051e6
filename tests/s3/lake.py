"""Running the command line on a stream, and looking at what came of it."""

import collections
import json
import os
import pathlib
import subprocess

LAKESTREAM = os.environ["LAKESTREAM"]
PRODUCERS = 8
SEQUENCE = 64
FILE_BYTES = 2000


def run(*words, environment, check=True, timeout=120):
    result = subprocess.run([LAKESTREAM, *words], capture_output=True,
                            text=True, env=environment, timeout=timeout)
    if check and result.returncode != 0:
        raise AssertionError(f"{' '.join(words)}: exit {result.returncode}: "
                             f"{result.stderr.strip()}")
    return result


def make_inputs():
    """A file per producer, each with bytes of its own."""
    paths = []
    for number in range(PRODUCERS):
        path = pathlib.Path(f"input-{number}.txt")
        path.write_bytes(bytes((number * 31 + i * i) % 251
                               for i in range(FILE_BYTES)))
        paths.append(str(path))
    return paths


def pack_all(url, inputs, environment, timeout=120):
    """All producers at once, each until its end."""
    running = [subprocess.Popen(
        [LAKESTREAM, "pack", url, "--producer", f"p{number}", "--seq-len",
         str(SEQUENCE), "--shard", f"{number}/{len(inputs)}", "--finish",
         *inputs],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        env=environment) for number in range(len(inputs))]
    failures = []
    try:
        for number, process in enumerate(running):
            _, stderr = process.communicate(timeout=timeout)
            if process.returncode != 0:
                failures.append(f"p{number}: {stderr.strip()}")
    finally:
        for process in running:
            if process.poll() is None:
                process.kill()
                process.wait()
    if failures:
        raise AssertionError("; ".join(failures))


def check_exactly_once(url, inputs, environment):
    """Invariants 3 and 4: each producer's seqs from 0 on, in order, none lost
    and none twice, with the bytes that were given in."""
    report = run("verify", "--data", "--json", url, environment=environment)
    problems = json.loads(report.stdout)["problems"]
    if problems:
        raise AssertionError(f"verify: {problems[:3]}")
    seqs = collections.defaultdict(list)
    log = run("log", "--json", url, environment=environment).stdout
    for line in log.splitlines():
        entry = json.loads(line)
        seqs[entry["producer"]].append(entry["seq"])
    count = -(-(FILE_BYTES + 1) // SEQUENCE)
    for number in range(len(inputs)):
        if seqs[f"p{number}"] != list(range(count)):
            raise AssertionError(f"p{number}: seqs {seqs[f'p{number}']}")
    return count * len(inputs)


def hashes(url, environment, timeout=120):
    return run("consume", url, "--rank", "0", "--hash", environment=environment,
               timeout=timeout).stdout
