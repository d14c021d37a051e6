# labels: slow
"""A stream's whole life in real processes, all of which are killed at random.

Eight producers pack text, four ranks train on it and checkpoint, keeping two
checkpoints, and reclaimers delete what is behind them. Everybody is killed with
SIGKILL now and then, and started again: a producer by itself, a rank with its
whole job, as a new run at the last checkpoint that all ranks had completed.

At the end every step was read by every rank, each time with the same bytes;
verify is content; what is left is what may be left, and no more.

    LIFE_SECONDS   how long producers and ranks go on, roughly; 15 as a test
    LIFE_STREAM    the stream's URL, for a store other than a folder
    LIFE_SEED      of who is killed when
"""

import atexit
import collections
import json
import os
import pathlib
import random
import subprocess
import sys
import threading
import time

LAKESTREAM = os.environ["LAKESTREAM"]
SECONDS = float(os.environ.get("LIFE_SECONDS", "15"))
URL = os.environ.get("LIFE_STREAM", "s")
SEED = int(os.environ.get("LIFE_SEED", "1"))
PRODUCERS = 8
RANKS = 4
SEQ_LEN = 4096
INTERVAL = 25  # steps from checkpoint to checkpoint
LIMIT = 150    # live steps
RATE = 40      # steps per second of an undisturbed trainer
YOUNG_S = 16 * 60

chance = random.Random(SEED)
counts = collections.Counter()
highest = collections.Counter()


def lakestream(*arguments, check=True):
    done = subprocess.run([LAKESTREAM, *map(str, arguments)],
                          capture_output=True, text=True, timeout=300)
    if check and done.returncode != 0:
        raise SystemExit(f"{arguments}: {done.returncode}: {done.stderr}")
    return done


def report(*arguments):
    return json.loads(lakestream(*arguments, "--json").stdout)


def start(*arguments, **options):
    process = subprocess.Popen([LAKESTREAM, *map(str, arguments)],
                               stdout=options.get("stdout", subprocess.DEVNULL),
                               stderr=subprocess.PIPE, text=True)
    atexit.register(process.kill)
    return process


def rss_kib(process):
    try:
        text = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    except OSError:
        return 0
    line = [line for line in text.splitlines() if line.startswith("VmRSS")]
    return int(line[0].split()[1]) if line else 0


class Kept:
    """A process that is started again until it is through."""

    def __init__(self, kind, *arguments):
        self.kind = kind
        self.arguments = arguments
        self.process = start(*arguments)

    def kill(self):
        self.process.kill()
        counts["killed " + self.kind] += 1

    def is_done(self):
        """Whether it ended well; starts it again if it was killed."""
        code = self.process.poll()
        highest["RSS of a " + self.kind] = max(
            highest["RSS of a " + self.kind], rss_kib(self.process))
        if code is None:
            return False
        if code not in (0, -9):
            raise SystemExit(f"{self.arguments}: {self.process.stderr.read()}")
        self.process.stderr.close()
        if code == 0:
            return True
        self.process = start(*self.arguments)
        return False


class Steady:
    """What a process that is never killed takes, early and late."""

    def __init__(self, kept, began):
        self.kept, self.early, self.late = kept, 0, 0
        self.ready = began + min(60, SECONDS / 3)

    def look(self, now):
        self.late = rss_kib(self.kept.process) or self.late
        if self.early == 0 and now > self.ready:
            self.early = self.late

    def judge(self):
        print(f"the memory of a {self.kept.kind} that is never killed: "
              f"{self.early} KiB early, {self.late} KiB late")
        if self.late > self.early + 16 * 1024:
            raise SystemExit(f"the {self.kept.kind} grows")


class Job:
    """One start of the training job: all its ranks."""

    def __init__(self, attempt, step, seen):
        self.run = f"job.{attempt}"
        self.seen = seen
        self.next = [step] * RANKS
        self.over = [False] * RANKS
        self.processes = []
        self.threads = []
        for rank in range(RANKS):
            process = start("consume", URL, "--rank", rank, "--from", step,
                            "--group", "train", "--run", self.run, "--hash",
                            stdout=subprocess.PIPE)
            thread = threading.Thread(target=self.read, args=(rank, process),
                                      daemon=True)
            thread.start()
            self.processes.append(process)
            self.threads.append(thread)

    def read(self, rank, process):
        for line in process.stdout:
            step, digest = line.split()[:2]
            key = int(step), rank
            if self.seen.setdefault(key, digest) != digest:
                print(f"step {step} of rank {rank} has changed", flush=True)
                os._exit(1)
            self.next[rank] = int(step) + 1
            time.sleep(chance.random() * 2 / RATE)
        self.over[rank] = process.wait() == 0

    def end(self):
        for process in self.processes:
            process.kill()
        for thread in self.threads:
            thread.join()
        for process in self.processes:
            process.wait()
            process.stderr.close()
            process.stdout.close()

    def is_broken(self):
        codes = [process.poll() for process in self.processes]
        for code, process in zip(codes, self.processes):
            if code not in (None, 0, -9):
                raise SystemExit(f"{self.run}: {process.stderr.read()}")
        return any(code == -9 for code in codes)


class Trainer:
    """Starts the job again and again, at its last complete checkpoint."""

    def __init__(self):
        self.seen = {}
        self.kept = [0]  # the checkpoints that are complete, the last two
        self.attempt = 0
        self.job = Job(0, 0, self.seen)

    def checkpoint(self):
        """If all ranks are past the next checkpoint, each one writes its own;
        some do not get to, and then it never was."""
        step = min(self.job.next) // INTERVAL * INTERVAL
        if step <= self.kept[-1]:
            return
        kept = (self.kept + [step])[-2:]
        for rank in range(RANKS):
            if chance.random() < 0.01:
                self.job.processes[rank].kill()
                counts["checkpoints left half done"] += 1
                return
            lakestream("watermark", URL, "--group", "train", "--run",
                       self.job.run, "--ranks", RANKS, "--rank", rank,
                       "--step", kept[0])
        self.kept = kept
        counts["checkpoints"] += 1

    def turn(self):
        """True once all ranks have read all of it."""
        if self.job.is_broken():
            self.job.end()
            self.attempt += 1
            counts["jobs started again"] += 1
            self.job = Job(self.attempt, self.kept[-1], self.seen)
        self.checkpoint()
        return all(self.job.over)

    def kill(self):
        chance.choice(self.job.processes).kill()
        counts["killed rank"] += 1


def write_texts(steps):
    texts = []
    for number in range(PRODUCERS):
        path = pathlib.Path(f"text-{number}")
        size = steps // PRODUCERS * RANKS * SEQ_LEN
        path.write_bytes(random.Random(number).randbytes(size))
        texts.append(path)
    return texts


def sample_store():
    """How many batches are stored, and their bytes, in a store that is no
    folder: those that are live, that may go, and that are in flight."""
    done = lakestream("reclaim", URL, "--dry-run", "--json", check=False)
    if done.returncode != 0:
        return
    told = json.loads(done.stdout)
    live = report("info", URL)
    parts = told["removed"]["data"], told["left"]["in_flight"]
    count = live["live_steps"] + sum(part["count"] for part in parts)
    size = live["live_bytes"] + sum(part["bytes"] for part in parts)
    highest["data objects"] = max(highest["data objects"], count)
    highest["data bytes"] = max(highest["data bytes"], size)


def sample_folder():
    """The same, if the stream is a folder."""
    count = size = 0
    for folder, _, names in os.walk(pathlib.Path(URL) / "data"):
        for name in names:
            try:
                size += os.stat(os.path.join(folder, name)).st_size
                count += 1
            except FileNotFoundError:
                pass
    highest["data objects"] = max(highest["data objects"], count)
    highest["data bytes"] = max(highest["data bytes"], size)


def live_through(steps):
    producers = [Kept("producer", "pack", URL, "--producer", f"p{number}",
                      "--seq-len", SEQ_LEN, "--finish",
                      "--durability", "none", "--flush-timeout-ms", "3600000",
                      text)
                 for number, text in enumerate(write_texts(steps))]
    reclaimers = [Kept("reclaimer", "reclaim", URL, "--every", 1)
                  for _ in range(3)]
    trainer = Trainer()
    began = time.monotonic()
    next_kill = next_sample = began
    spared = producers[0]
    steady = [Steady(kept, began) for kept in (spared, reclaimers[0])]
    read = False
    while not read or producers:
        now = time.monotonic()
        producers = [each for each in producers if not each.is_done()]
        for each in reclaimers:
            each.is_done()
        read = trainer.turn()
        if now >= next_kill:
            next_kill = now + chance.uniform(0.1, 0.6)
            victim = chance.random()
            mortal = [each for each in producers if each is not spared]
            if victim < 0.5 and mortal:
                chance.choice(mortal).kill()
            elif victim < 0.9:
                chance.choice(reclaimers[1:]).kill()
            else:
                trainer.kill()
        if now >= next_sample:
            if pathlib.Path(URL).is_dir():
                sample_folder()
                next_sample = now + 1
            else:
                sample_store()
                next_sample = now + 5
        for each in steady:
            each.look(now)
        if now > began + 20 * SECONDS + 120:
            raise SystemExit(f"no end in sight: {counts}, {trainer.job.next}")
        time.sleep(0.05)
    for each in reclaimers:
        each.process.kill()
        each.process.wait()
        each.process.stderr.close()
    trainer.job.end()
    for each in steady:
        each.judge()
    print(f"{time.monotonic() - began:.0f} s")
    return trainer


def old_manifests():
    """Manifests whose successor has been there for long."""
    names = sorted(name for name in pathlib.Path(URL, "manifest").rglob("*")
                   if name.is_file())
    now = time.time()
    return [str(name) for newer, name in zip(names, names[1:])
            if now - newer.stat().st_ctime > YOUNG_S]


def check_end(trainer):
    info = report("info", URL)
    steps = info["next_step"]
    assert info["ended"], info
    missing = [key for key in ((step, rank) for step in range(steps)
                               for rank in range(RANKS))
               if key not in trainer.seen]
    assert not missing, missing[:10]
    assert sum(p["next_seq"] for p in info["producers"]) == steps
    predicted = report("reclaim", URL, "--dry-run")
    done = report("reclaim", URL)
    assert done["first_live_step"] == trainer.kept[0], (done, trainer.kept)
    for kind in ("data", "index", "watermarks"):
        assert predicted["removed"][kind] == done["removed"][kind], kind
    live = report("info", URL)
    found = report("verify", URL, "--data")
    assert found["ok"], found
    assert found["steps"] == steps - trainer.kept[0]
    assert found["unnamed_objects"] == found["uncommitted_objects"] == 0, found
    assert done["left"]["in_flight"]["count"] == 0, done["left"]
    assert done["left"]["unknown"]["count"] == 0, done["left"]
    assert done["left"]["uploads"]["count"] == 0, done["left"]
    assert highest["data objects"] < 3 * LIMIT, highest
    if pathlib.Path(URL).is_dir():
        marks = list(pathlib.Path(URL, "watermark").rglob("*/*/*"))
        assert len(marks) <= RANKS, marks
        assert not old_manifests(), old_manifests()[:10]
    print(f"{steps} steps, {live['live_steps']} live, "
          f"{done['left']['young_manifests']['count']} young manifests")


def main():
    steps = int(SECONDS * RATE / 3) // PRODUCERS * PRODUCERS
    lakestream("init", URL, "--dp", RANKS, "--cp", 1, "--producers", PRODUCERS,
               "--max-live-steps", LIMIT, "--durability", "none")
    trainer = live_through(steps)
    for name, count in sorted((counts + highest).items()):
        print(f"{name}: {count}")
    check_end(trainer)
    return 0


if __name__ == "__main__":
    sys.exit(main())
