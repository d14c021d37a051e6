#!/usr/bin/env python3
"""The main job on real text, and the proof that it worked.

Four producers pack text files into one stream on a 2 x 2 mesh, four ranks
follow it. One producer is killed in the middle and started again. Then the
slices that the ranks saw are put together and held against the files, byte by
byte.

    demo.py --cli build/release/lakestream [--data FOLDER] [--store URL]
"""

import argparse
import os
import secrets
import shutil
import signal
import statistics
import sys
import tempfile
import time

import corpus
import processes
import proof
from screen import Screen

DP, CP = 2, 2
PRODUCER_COUNT = 4
# A TGB is 2 * 4 * 4096 tokens, 64 KiB; smaller ones where there is little text.
SEQ_LEN, SEQ_LEN_MIN, MICRO_BATCH = 4096, 16, 4
STEPS_WANTED = 200
POLL_S = 0.1
REST_S = 0.5
TIME_LIMIT_S = 600


class Failed(Exception):
    """The demo did not come to its end."""


class Job:
    """The run itself: producers, ranks, one kill."""

    def __init__(self, cli, url, files, screen):
        self.cli, self.url, self.screen = cli, url, screen
        self.files = files
        self._choose_layout()
        self.packers = []
        self.followers = []
        self.victim = None
        self.killed_at = None
        self.back = False

    def _choose_layout(self):
        shards = [proof.shard_files(self.files.sizes, i, PRODUCER_COUNT)
                  for i in range(PRODUCER_COUNT)]
        seq_len = SEQ_LEN
        while True:
            self.layout = proof.Layout(DP, CP, seq_len, MICRO_BATCH)
            self.tgb_counts = [self.layout.tgb_count(sizes)
                               for sizes in shards]
            self.step_count = sum(self.tgb_counts)
            if self.step_count >= STEPS_WANTED or seq_len == SEQ_LEN_MIN:
                break
            seq_len //= 2

    def sources(self):
        return {packer.name: proof.shard_files(self.files.files, i,
                                               PRODUCER_COUNT)
                for i, packer in enumerate(self.packers)}

    def start(self):
        self.cli.run("init", self.url, "--dp", str(DP), "--cp", str(CP),
                     "--producers", str(PRODUCER_COUNT))
        self.started = time.monotonic()
        for rank in range(DP * CP):
            self.followers.append(processes.Follower(
                self.cli, self.url, rank,
                ["--starve-timeout-ms", "120000"]))
            self.followers[-1].start()
        for i in range(PRODUCER_COUNT):
            self.packers.append(processes.Packer(
                self.cli, self.url, i, PRODUCER_COUNT, self.layout,
                self.files.files, ["--producer-bytes", "8MiB"]))
            self.packers[-1].start()

    def watch(self):
        """Until the last rank has seen the last step."""
        while not (all([packer.is_done() for packer in self.packers
                        if not self._is_down(packer)])
                   and all([rank.is_done() for rank in self.followers])):
            if time.monotonic() - self.started > TIME_LIMIT_S:
                raise Failed(f"not through after {TIME_LIMIT_S} s")
            self._disturb()
            self._show()
            time.sleep(POLL_S if self.back else POLL_S / 5)
        self.seconds = max(rank.times[-1]
                           for rank in self.followers) - self.started

    def _is_down(self, packer):
        return packer is self.victim and not self.back

    def _disturb(self):
        """Kills a producer some way down its road; brings it back."""
        if self.victim is None:
            self._kill_one()
        elif not self.back and time.monotonic() > self.killed_at + REST_S:
            self.victim.start()
            self.back = True
            self.screen.say(f"{self._clock()}  {self.victim.name} started "
                            "again")

    def _kill_one(self):
        """The first that has committed an eighth and is not through yet."""
        info = self.cli.json("info", self.url)
        seqs = {producer["id"]: producer["next_seq"]
                for producer in info["producers"]}
        for packer, count in zip(self.packers, self.tgb_counts):
            seq = seqs.get(packer.name, 0)
            if max(1, count // 8) <= seq < count and packer.kill():
                self.victim = packer
                self.killed_at = time.monotonic()
                self.screen.say(f"{self._clock()}  {packer.name} killed "
                                f"(SIGKILL) with {seq} TGBs committed")
                return

    def _clock(self):
        return f"{time.monotonic() - self.started:6.1f} s"

    def _show(self):
        at = [len(rank.seen) for rank in self.followers]
        seconds = time.monotonic() - self.started
        text_bytes = self.files.size * min(at) / self.step_count
        self.screen.show(
            f"{self._clock()}  {100 * min(at) // self.step_count:3d} %  "
            f"ranks at steps {' '.join(map(str, at))} of {self.step_count}  "
            f"{text_bytes / 1e6 / seconds:.1f} MB/s")


def prove(job):
    """The three proofs. Returns what `verify` and the reading back counted."""
    report = job.cli.json("verify", job.url, "--data")
    if not report["ok"]:
        raise proof.ProofError(f"verify: {report['problems'][0]}")

    def progress(steps):
        job.screen.show(f"proving  {100 * steps // job.step_count:3d} %")

    totals = processes.prove(job.cli, job.url, job.layout, job.sources(),
                             [rank.seen for rank in job.followers], progress)
    if totals.steps != job.step_count:
        raise proof.ProofError(f"the files make {job.step_count} steps, the "
                               f"stream has {totals.steps}")
    return report, totals


def percentiles(job):
    """Over the producers: the middle of their medians, the worst p95."""
    latencies = [summary["append_to_visible_ms"]
                 for packer in job.packers for summary in packer.summaries]
    return (statistics.median(each["p50"] for each in latencies),
            max(each["p95"] for each in latencies))


def describe_kill(job):
    """What the kill cost, as lines."""
    overall = max(rank.longest_wait(0, float("inf"))
                  for rank in job.followers)
    if job.victim is None:
        return ["  no producer could be killed in the middle, all were too "
                "fast: give it more data",
                f"  longest wait of a rank for a step: {overall:.2f} s"]
    steps = [[], []]
    for entry in processes.read_log(job.cli, job.url):
        if entry["producer"] == job.victim.name:
            steps[entry["epoch"] > 1].append(entry["step"])
    before, after = map(len, steps)
    text = (f"  {job.victim.name}: {before} TGBs in its first life, {after} in "
            "its second")
    back_at = job.killed_at + REST_S
    if after > 0:
        back_at = max(rank.times[steps[1][0] + 1] for rank in job.followers)
        text += f", visible {back_at - job.killed_at:.2f} s after the kill"
    wait = max(rank.longest_wait(job.killed_at, back_at)
               for rank in job.followers)
    return [text,
            f"  longest wait of a rank for a step: {wait:.2f} s around the "
            f"kill, {overall:.2f} s in the whole run"]


def report(job, checked, totals):
    say = job.screen.say
    summaries = [summary for packer in job.packers
                 for summary in packer.summaries]
    conflicts = sum(summary["conflicts"] for summary in summaries)
    commits = len({entry["version"]
                   for entry in processes.read_log(job.cli, job.url)})
    p50, p95 = percentiles(job)
    say()
    say("proved:")
    say(f"  all {DP * CP} ranks saw the same {totals.steps} steps, none "
        "missing, none twice")
    say(f"  the slices hold all {totals.tokens:,} tokens of "
        f"{len(job.files.files)} files exactly once, in order")
    say(f"  verify --data: {checked['steps']} steps, {checked['blocks']} "
        f"index blocks, {checked['bytes'] / 1e6:.1f} MB: no problems")
    say("measured:")
    say(f"  {totals.steps} steps in {job.seconds:.1f} s, "
        f"{job.files.size / 1e6 / job.seconds:.1f} MB/s of text, "
        f"{checked['bytes'] / 1e6 / job.seconds:.1f} MB/s stored")
    say(f"  {commits} commits with steps, {conflicts} conflicts "
        "(without the killed process's)")
    say(f"  append to visible: p50 {p50:.0f} ms, p95 {p95:.0f} ms "
        "(of the slowest producer)")
    for line in describe_kill(job):
        say(line)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cli", default=os.environ.get("LAKESTREAM"),
                        help="the lakestream program (or $LAKESTREAM)")
    parser.add_argument("--data", help="pack this folder's files instead of "
                        "the system's own text")
    parser.add_argument("--store", "--url", default="file",
                        help="a URL to make the stream under, or 'file' for a "
                        "temporary folder (default)")
    parser.add_argument("--size", type=int, metavar="MB",
                        default=corpus.DEFAULT_BYTES >> 20,
                        help="at most so much text (default %(default)s)")
    parser.add_argument("--keep", action="store_true",
                        help="leave the stream where it is")
    arguments = parser.parse_args()
    if not arguments.cli:
        parser.error("--cli names the lakestream program")
    if arguments.store.startswith("mem:"):
        parser.error("a mem:// store is no place for several processes")
    return arguments


def run(arguments, folder, screen):
    """The whole demo; its text on the way. Returns the stream's URL."""
    url = f"file://{folder}/stream"
    if arguments.store != "file":
        # A prefix is used once, so each run makes its own.
        url = f"{arguments.store.rstrip('/')}/demo-{secrets.token_hex(4)}"
    files = corpus.collect(arguments.data, arguments.size << 20)
    if files.size == 0:
        raise Failed(f"no text found in {arguments.data or 'this system'}"
                     + files.describe_left_out())
    screen.say(files.describe())
    cli = processes.Cli(arguments.cli, folder)
    try:
        job = Job(cli, url, files, screen)
        screen.say(f"{PRODUCER_COUNT} producers, mesh {DP} x {CP}, "
                   f"{job.step_count} steps to come, stream {url}")
        job.start()
        job.watch()
        checked, totals = prove(job)
        report(job, checked, totals)
    finally:
        cli.stop_all()
    return url


def stays(arguments):
    """Whether the stream outlives the demo: a gateway that tests/s3/rgw.py
    started for it stops when it ends."""
    passing = ("file", os.environ.get("LKS_S3_URL"))
    return arguments.keep or arguments.store not in passing


def show_commands(arguments, url, screen):
    name = os.path.relpath(arguments.cli)
    screen.say()
    screen.say("to look at the stream:")
    for command in (f"info {url}", f"log {url} --to 10",
                    f"verify {url} --data", f"consume {url} --rank 0 --hash"):
        screen.say(f"  {name} {command}")


def main():
    arguments = parse_arguments()
    screen = Screen()
    folder = tempfile.mkdtemp(prefix="lakestream-demo-")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    started = time.monotonic()
    try:
        url = run(arguments, folder, screen)
        screen.say(f"all in {time.monotonic() - started:.1f} s")
        if stays(arguments):
            show_commands(arguments, url, screen)
        elif arguments.store == "file":
            screen.say("(--keep leaves the stream to look at)")
        return 0
    except (Failed, proof.ProofError, processes.CommandFailed,
            OSError) as error:
        screen.say()
        print(f"demo: FAILED: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        screen.say()
        return 130
    finally:
        if arguments.keep:
            screen.say(f"kept: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
