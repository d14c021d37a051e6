"""Running the command line: one-shot calls, packers, ranks that follow."""

import contextlib
import json
import os
import signal
import subprocess
import threading
import time

import proof


class CommandFailed(Exception):
    """A command said no; the text is its own line."""


class Cli:
    """The program under test, and a folder for what it says."""

    def __init__(self, path, folder):
        self.path = os.path.abspath(path)
        self.folder = folder
        self.processes = []

    def run(self, *arguments):
        """The standard output of a command that ends by itself."""
        done = subprocess.run([self.path, *arguments], capture_output=True,
                              stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            raise CommandFailed(last_line(done.stderr)
                                or f"{arguments[0]}: exit {done.returncode}")
        return done.stdout

    def json(self, *arguments):
        return json.loads(self.run(*arguments, "--json"))

    def start(self, name, *arguments, stdout=subprocess.PIPE):
        """A process that stop_all() ends; its stderr goes to a file."""
        path = os.path.join(self.folder,
                            f"{name}.{len(self.processes)}.err")
        with open(path, "wb") as errors:
            process = subprocess.Popen(
                [self.path, *arguments], stdout=stdout, stderr=errors,
                stdin=subprocess.DEVNULL, bufsize=1 << 20)
        process.name, process.error_path = name, path
        self.processes.append(process)
        return process

    def stop_all(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()
            if process.stdout:
                process.stdout.close()
        self.processes.clear()


def has_ended(process):
    """Whether it ended well; raises if it ended otherwise."""
    if process.poll() is None:
        return False
    if process.returncode != 0:
        with open(process.error_path, "rb") as errors:
            text = last_line(errors.read())
        raise CommandFailed(f"{process.name}: {text}" if text else
                            f"{process.name}: exit {process.returncode}")
    return True


def last_line(data):
    lines = data.decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else ""


class Packer:
    """One producer: a `lakestream pack` that may be killed and come back."""

    def __init__(self, cli, url, index, count, layout, files, options=()):
        self.cli = cli
        self.name = f"prep-{index}"
        self.arguments = [
            "pack", url, "--producer", self.name, "--shard", f"{index}/{count}",
            "--seq-len", str(layout.seq_len),
            "--micro-batch", str(layout.micro_batch),
            "--last", "pad", "--finish", "--json", *options, *files]
        self.summaries = []
        self.process = None

    def start(self):
        self.process = self.cli.start(self.name, *self.arguments)

    def kill(self):
        """False if it was through already."""
        if self.process.poll() is not None:
            return False
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate()
        return True

    def is_done(self):
        """Whether it ended well; raises if it did not."""
        if not has_ended(self.process):
            return False
        if not self.process.stdout.closed:
            self.summaries.append(json.loads(self.process.communicate()[0]))
        return True


class Follower(threading.Thread):
    """One rank: reads the stream to its end and notes what came when."""

    def __init__(self, cli, url, rank, options=()):
        super().__init__(daemon=True)
        self.cli = cli
        self.name = f"rank-{rank}"
        self.process = cli.start(self.name, "consume", url, "--rank", str(rank),
                                 "--hash", *options)
        self.seen = []
        self.times = [time.monotonic()]

    def run(self):
        for line in self.process.stdout:
            self.times.append(time.monotonic())
            step, digest, size = line.split()
            self.seen.append((int(step), digest.decode(), int(size)))

    def is_done(self):
        return not self.is_alive() and has_ended(self.process)

    def longest_wait(self, begin, end):
        """Of the waits for a step that overlap this time."""
        return max((after - before
                    for before, after in zip(self.times, self.times[1:])
                    if after >= begin and before <= end), default=0.0)


def read_log(cli, url):
    """The steps, one after the other."""
    process = cli.start("log", "log", url, "--json")
    for line in process.stdout:
        yield json.loads(line)
    process.wait()
    has_ended(process)


def prove(cli, url, layout, sources, seen=None, progress=None):
    """Reads the whole stream back and proves it; see proof.py. `seen` is what
    each rank saw while it followed."""
    if seen is not None:
        proof.check_same_steps(seen, cli.json("info", url)["next_step"])
    with contextlib.ExitStack() as stack:
        readers = [cli.start(f"reread-{rank}", "consume", url, "--raw",
                             "--rank", str(rank))
                   for rank in range(layout.rank_count)]
        streams = [stack.enter_context(reader.stdout) for reader in readers]
        check = proof.Proof(layout, sources)
        try:
            for entry in read_log(cli, url):
                views = seen and [steps[entry["step"]] for steps in seen]
                check.take_step(entry, streams, views)
                if progress:
                    progress(check.steps)
            totals = check.finish(streams)
        except proof.ProofError:
            # A reader that failed knows better why its bytes ended.
            for reader in readers:
                has_ended(reader)
            raise
        for reader in readers:
            reader.wait()
            has_ended(reader)
    return totals
