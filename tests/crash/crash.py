#!/usr/bin/env python3
"""Kills producers at random points, and proves after each round that nothing
was lost and nothing is there twice.

    crash.py --cli build/dev/lakestream --rounds 50 [--seed S] [--store URL]

Each round makes a stream of its own. Several producers pack small files, while
a rank per slice follows. Producers are killed with SIGKILL at random times,
right at their start as well, and started again until all are through. Some are
not killed but stopped, left asleep while a successor takes their place, and
woken up behind its back. `verify` runs all the time and must never see
anything wrong. At the end, `verify --data` and the demo's proof look at what
is there. A failure prints the command that replays its round: the plan is
the same, the machine's timing is not.

With --store the streams are made below that URL, and dropped once proved; who
we are there is said in the environment. What takes requests takes longer, so
lives are longer and streams shorter.
"""
# labels: slow sanitize

import argparse
import json
import os
import random
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "examples", "demo"))
sys.dont_write_bytecode = True

import processes  # noqa: E402
import proof  # noqa: E402

ROUND_LIMIT_S = 120
LIFE_S_MAX = 0.12
STORE_PACE = 5  # How much slower a distant store is taken to be.
MESHES = [(1, 1), (2, 1), (1, 2), (2, 2), (3, 1)]


class Plan:
    """What a round does, drawn from its seed before it begins."""

    def __init__(self, seed, pace=1):
        rng = random.Random(seed)
        self.pace = pace
        dp, cp = rng.choice(MESHES)
        self.layout = proof.Layout(dp, cp, cp * rng.choice((64, 256, 1024)),
                                   rng.choice((1, 2, 3)))
        self.producer_count = rng.randint(2, 4)
        self.step_count_wanted = rng.randint(50, 2000 // pace)
        self.file_sizes = self._draw_sizes(rng)
        self.lives = [[self._draw_life(rng) for _ in range(rng.randint(0, 8))]
                      for _ in range(self.producer_count)]
        self.kills_init = rng.random() < 0.2
        self.init_s = rng.uniform(0, 0.02 * pace)
        self.options = ["--commit-gap-ms", str(rng.choice((0, 5, 20))),
                        "--uploads", str(rng.choice((1, 4))),
                        "--codec", rng.choice(("none", "lz4", "zstd")),
                        "--durability", rng.choice(("none", "full"))]
        self.data_seed = rng.random()

    def _draw_sizes(self, rng):
        left = self.step_count_wanted * self.layout.tgb_tokens
        sizes = []
        while left > 0 and len(sizes) < 200:
            size = int(rng.choice((0, 1, rng.uniform(1, 100),
                                   rng.uniform(1, left / 4 + 1))))
            sizes.append(size)
            left -= size + 1
        sizes.append(max(left, 0))
        return sizes

    def _draw_life(self, rng):
        """How long a process runs, and whether it then dies or sleeps. Many
        lives end while the process still finds out where it was."""
        seconds = self.pace * LIFE_S_MAX
        seconds *= rng.random() ** rng.choice((1, 3))
        return seconds, rng.choice(("kill", "kill", "kill", "sleep"))


class Worker:
    """One producer id through all its lives."""

    def __init__(self, packer, lives):
        self.packer = packer
        self.lives = list(lives)
        self.until = 0.0
        self.sleepers = []
        self.woken = []
        self.kill_count = self.sleep_count = self.fenced_count = 0
        self.begin_life()

    def begin_life(self):
        self.packer.start()
        if self.lives:
            self.until = time.monotonic() + self.lives[0][0]

    def is_done(self):
        """Ends the life in hand when its time is over; True after the last."""
        if self.lives and self.packer.process.poll() is not None:
            self.lives.clear()  # It was through before its time.
        if not self.lives:
            return self._is_through()
        if time.monotonic() >= self.until:
            _, how = self.lives.pop(0)
            if how == "kill":
                self.kill_count += self.packer.kill()
            else:
                self.packer.process.send_signal(signal.SIGSTOP)
                self.sleepers.append(self.packer.process)
                self.sleep_count += 1
            self.begin_life()
        return False

    def _is_through(self):
        """A process that slept before it opened has every right to be the
        newest owner once it wakes up; whoever it fences comes back."""
        try:
            return self.packer.is_done()
        except processes.CommandFailed as error:
            if "fenced" not in str(error) or not self.woken:
                raise
            self.fenced_count += 1
            self.begin_life()
            return False

    def wake_one(self):
        """A sleeper goes on where it stopped; it has been replaced since."""
        if self.sleepers:
            self.woken.append(self.sleepers.pop())
            self.woken[-1].send_signal(signal.SIGCONT)

    def wake_all(self):
        while self.sleepers:
            self.wake_one()

    def see_woken_end(self):
        """Fenced or through, a process that was replaced ends by itself."""
        for process in self.woken:
            try:
                process.communicate(timeout=ROUND_LIMIT_S)
            except subprocess.TimeoutExpired:
                raise proof.ProofError(f"{self.packer.name}: a process that "
                                       "was replaced does not end")


class Looker:
    """Verifies the stream again and again while everything is going on."""

    def __init__(self, cli, url):
        self.cli, self.url = cli, url
        self.count = 0
        self.process = None
        self.look()

    def look(self):
        if self.process is None:
            self.process = self.cli.start("verify", "verify", self.url,
                                          "--json")
        elif self.process.poll() is not None:
            report = json.loads(self.process.communicate()[0] or "null")
            if report is not None and not report["ok"]:
                raise proof.ProofError("verify, in the middle of it: "
                                       f"{report['problems']}")
            processes.has_ended(self.process)
            self.process = None
            self.count += 1


class Round:
    def __init__(self, program, plan, folder, store=None):
        self.plan = plan
        self.folder = folder
        # The folder's name is its own, so the stream's is.
        self.url = (f"{store}/{os.path.basename(folder)}" if store else
                    f"file://{folder}/stream")
        self.cli = processes.Cli(program, folder)
        self.rng = random.Random(plan.data_seed)
        self.files = []
        self.workers = []
        self.followers = []

    def make_files(self):
        for k, size in enumerate(self.plan.file_sizes):
            self.files.append(os.path.join(self.folder, f"file-{k}"))
            with open(self.files[-1], "wb") as file:
                file.write(self.rng.randbytes(size))

    def make_stream(self):
        layout = self.plan.layout
        arguments = ["init", self.url, "--dp", str(layout.dp),
                     "--cp", str(layout.cp),
                     "--producers", str(self.plan.producer_count)]
        if self.plan.kills_init:
            process = self.cli.start("init", *arguments)
            time.sleep(self.plan.init_s)
            process.kill()
            process.communicate()
        try:
            self.cli.run(*arguments)
        except processes.CommandFailed:
            # The killed one had got there. Anything else fails right here.
            self.cli.json("info", self.url)

    def start(self):
        plan = self.plan
        for rank in range(plan.layout.rank_count):
            self.followers.append(processes.Follower(
                self.cli, self.url, rank,
                ["--starve-timeout-ms", str(1000 * ROUND_LIMIT_S)]))
            self.followers[-1].start()
        for i in range(plan.producer_count):
            packer = processes.Packer(self.cli, self.url, i,
                                      plan.producer_count, plan.layout,
                                      self.files, plan.options)
            self.workers.append(Worker(packer, plan.lives[i]))

    def watch(self):
        deadline = time.monotonic() + ROUND_LIMIT_S
        looker = Looker(self.cli, self.url)
        while True:
            looker.look()
            done = [worker.is_done() for worker in self.workers]
            done += [rank.is_done() for rank in self.followers]
            if all(done):
                break
            if time.monotonic() > deadline:
                raise proof.ProofError(
                    f"not through after {ROUND_LIMIT_S} s: "
                    f"{done.count(False)} processes still run")
            if self.rng.random() < 0.02:
                self.rng.choice(self.workers).wake_one()
            time.sleep(0.002)
        # Whoever still sleeps wakes up in a stream that has ended.
        for worker in self.workers:
            worker.wake_all()
        for worker in self.workers:
            worker.see_woken_end()

    def prove(self):
        plan = self.plan
        report = self.cli.json("verify", self.url, "--data")
        if not report["ok"]:
            raise proof.ProofError(f"verify: {report['problems']}")
        if report["uncommitted_objects"] > 0:
            raise proof.ProofError("verify: all are finished, yet something "
                                   "waits to be committed")
        if not self.cli.json("info", self.url)["ended"]:
            raise proof.ProofError("all are finished, and it has not ended")
        sources = {
            worker.packer.name:
                proof.shard_files(self.files, i, plan.producer_count)
            for i, worker in enumerate(self.workers)}
        totals = processes.prove(self.cli, self.url, plan.layout, sources,
                                 [rank.seen for rank in self.followers])
        wanted = 0
        for files in sources.values():
            sizes = [os.path.getsize(path) for path in files]
            wanted += plan.layout.tgb_count(sizes)
        if totals.steps != wanted:
            raise proof.ProofError(f"{totals.steps} steps, where the files "
                                   f"make {wanted}")
        return totals, report

    def run(self):
        try:
            self.make_files()
            self.make_stream()
            self.start()
            self.watch()
            return self.prove()
        finally:
            self.cli.stop_all()


def run_round(program, seed, number, keep, store=None):
    plan = Plan(f"{seed}/{number}", STORE_PACE if store else 1)
    folder = tempfile.mkdtemp(prefix="lakestream-crash-")
    began = time.monotonic()
    current = Round(program, plan, folder, store)
    try:
        totals, report = current.run()
        if store and not keep:
            current.cli.run("drop", current.url)
    except Exception:
        print(f"round {number} failed; its folder: {folder}, its stream: "
              f"{current.url}", file=sys.stderr)
        print(f"again: {sys.argv[0]} --cli {program} --seed {seed} "
              f"--only {number}{f' --store {store}' if store else ''}",
              file=sys.stderr)
        raise
    kills = sum(worker.kill_count for worker in current.workers)
    sleeps = sum(worker.sleep_count for worker in current.workers)
    fenced = sum(worker.fenced_count for worker in current.workers)
    print(f"round {number}: mesh {plan.layout.dp} x {plan.layout.cp}, "
          f"{plan.producer_count} producers, {kills} killed, {sleeps} put to "
          f"sleep, {fenced} fenced, {totals.steps} steps, {totals.tokens} tokens, "
          f"{report['unnamed_objects']} lost uploads: ok "
          f"({time.monotonic() - began:.1f} s)", flush=True)
    if not keep:
        shutil.rmtree(folder, ignore_errors=True)
    return kills, sleeps


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cli", default=os.environ.get("LAKESTREAM"),
                        help="the lakestream program (or $LAKESTREAM)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", type=int, metavar="ROUND",
                        help="just this round of the seed")
    parser.add_argument("--seed", help="(default: a fresh one)")
    parser.add_argument("--store", metavar="URL",
                        help="where the streams are (default: in a folder)")
    parser.add_argument("--keep", action="store_true",
                        help="leave the rounds' folders and streams")
    arguments = parser.parse_args()
    if not arguments.cli:
        parser.error("--cli names the lakestream program")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    seed = arguments.seed or secrets.token_hex(4)
    print(f"seed {seed}", flush=True)
    rounds = range(arguments.rounds)
    if arguments.only is not None:
        rounds = [arguments.only]
    try:
        counts = [run_round(arguments.cli, seed, number, arguments.keep,
                            arguments.store) for number in rounds]
    except (proof.ProofError, processes.CommandFailed, OSError) as error:
        print(f"crash: FAILED: {error}", file=sys.stderr)
        return 1
    print(f"{len(counts)} rounds, {sum(kills for kills, _ in counts)} killed, "
          f"{sum(sleeps for _, sleeps in counts)} put to sleep: all proved")
    return 0


if __name__ == "__main__":
    sys.exit(main())
