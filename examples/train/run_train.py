#!/usr/bin/env python3
"""Training that is killed, and goes on as if it had not been.

Packs text into a stream of dp 4 x cp 2, and trains on it four times: without a
disturbance; SIGKILLed in the middle and resumed with as many ranks; and resumed
from the same checkpoint with half and with twice as many. Global batches must
be identical each time, the loss bit for bit with as many ranks, and within 1e-4
with other numbers.

    run_train.py --cli build/release/lakestream
"""

import argparse
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
DP, CP, LENGTH, MICRO_BATCH = 4, 2, 128, 2
STEPS, KILL_AFTER = 60, 25
TEXT_SIZE = 300_000
RANKS = 2
TIME_LIMIT_S = 300
LOSS_TOLERANCE = 1e-4


def write_text(folder):
    """Real text of this machine, in four files."""
    sources = sorted(pathlib.Path(os.__file__).parent.glob("*.py"))
    text = b"".join(path.read_bytes() for path in sources)[:TEXT_SIZE]
    paths = []
    for shard in range(4):
        paths.append(folder / f"text{shard}")
        size = len(text) // 4
        paths[-1].write_bytes(text[shard * size:(shard + 1) * size])
    return paths


def make_stream(cli, folder):
    url = f"file://{folder}/stream"
    subprocess.run([cli, "init", url, "--dp", str(DP), "--cp", str(CP),
                    "--producers", "2", "--durability", "none"],
                   check=True, stdout=subprocess.DEVNULL)
    packers = [subprocess.Popen(
        [cli, "pack", url, "--producer", f"prep-{i}", "--shard", f"{i}/2",
         "--seq-len", str(LENGTH), "--micro-batch", str(MICRO_BATCH),
         "--durability", "none", "--finish", *map(str, write_text(folder))],
        stdout=subprocess.DEVNULL) for i in range(2)]
    return url, packers


def free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


class Job:
    """One start of the training."""

    def __init__(self, url, folder, ranks):
        self.folder, self.ranks = folder, ranks
        folder.mkdir(exist_ok=True)
        environment = {**os.environ, "MASTER_ADDR": "127.0.0.1",
                       "MASTER_PORT": str(free_port()),
                       "WORLD_SIZE": str(ranks),
                       "USE_LIBUV": "0"}  # which Debian builds without
        self.processes = [subprocess.Popen(
            [sys.executable, HERE / "train.py", url, "--folder", folder,
             "--steps", str(STEPS), "--length", str(LENGTH)],
            env={**environment, "RANK": str(rank)}) for rank in range(ranks)]

    def lines(self):
        log = self.folder / "log"
        text = log.read_text() if log.exists() else ""
        return [json.loads(line) for line in text.splitlines()
                if line.endswith("}")]

    def wait(self):
        deadline = time.monotonic() + TIME_LIMIT_S
        try:
            codes = [process.wait(max(0.1, deadline - time.monotonic()))
                     for process in self.processes]
        finally:
            self.kill()
        if any(codes):
            sys.exit(f"a rank of {self.ranks} failed: {codes}")

    def kill_after(self, steps):
        deadline = time.monotonic() + TIME_LIMIT_S
        while len(self.lines()) < steps:
            if time.monotonic() > deadline or self.processes[0].poll():
                self.kill()
                sys.exit("the job to be killed did not come so far")
            time.sleep(0.01)
        self.kill()

    def kill(self):
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
        for process in self.processes:
            process.wait()


def compare(name, lines, reference, exact):
    """Each logged step against the undisturbed run's."""
    by_step = {line["step"]: line for line in reference}
    for line in lines:
        wanted = by_step[line["step"]]
        if line["hash"] != wanted["hash"]:
            sys.exit(f"{name}: step {line['step']} had another global batch")
        if exact and line["bits"] != wanted["bits"]:
            sys.exit(f"{name}: step {line['step']} had the loss {line['bits']}, "
                     f"not {wanted['bits']}")
    worst = max(abs(line["loss"] - by_step[line["step"]]["loss"])
                for line in lines)
    if worst > LOSS_TOLERANCE:
        sys.exit(f"{name}: the loss is off by {worst}")
    if max(line["step"] for line in lines) != STEPS - 1:
        sys.exit(f"{name}: ended at step {max(x['step'] for x in lines)}")
    print(f"{name:28} {len(lines):3} steps, hashes equal, "
          + ("loss equal in each bit" if exact else f"loss within {worst:.1e}"))


def run(cli, folder):
    url, packers = make_stream(cli, folder)
    whole = Job(url, folder / "whole", RANKS)
    whole.wait()
    reference = whole.lines()
    print(f"{'undisturbed':28} {len(reference):3} steps, loss "
          f"{reference[0]['loss']:.4f} -> {reference[-1]['loss']:.4f}, "
          f"{RANKS} ranks")
    if any(packer.wait() for packer in packers):
        sys.exit("pack failed")

    killed = Job(url, folder / "killed", RANKS)
    killed.kill_after(KILL_AFTER)
    print(f"{'SIGKILL of all ranks':28} {len(killed.lines()):3} steps")
    for ranks in (1, 4):
        shutil.copytree(folder / "killed", folder / f"with{ranks}")
        (folder / f"with{ranks}" / "log").unlink()
    for ranks, name in ((RANKS, "killed"), (1, "with1"), (4, "with4")):
        job = Job(url, folder / name, ranks)
        job.wait()
        compare(f"resumed with {ranks} of {RANKS} ranks", job.lines(),
                reference, exact=ranks == RANKS)
    print("All runs saw the same global batches.")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cli", default=os.environ.get("LAKESTREAM"))
    arguments = parser.parse_args()
    if not arguments.cli:
        parser.error("--cli, or LAKESTREAM, names the command line to pack with")
    with tempfile.TemporaryDirectory(prefix="lakestream-train-") as folder:
        run(os.path.abspath(arguments.cli), pathlib.Path(folder))


if __name__ == "__main__":
    main()
