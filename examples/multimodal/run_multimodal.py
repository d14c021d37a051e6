#!/usr/bin/env python3
"""Pictures and video: workers decode, a trainer learns, one worker is killed.

Two producers decode JPEGs with Pillow and clips with ffmpeg. Decoded, they are
many times as large, by a factor that nobody knows before, so slices are ragged:
`pixels` holds the frames of all items one behind the other, `sizes` says where
they end. One producer is SIGKILLed while the trainer runs, and started again.
The trainer must not be held up by that while there is something to fetch, and
must see each item once.

    run_multimodal.py
"""

import collections
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import numpy
import torch

import lakestream as ls
import media

DP, ITEMS, EPOCHS, WORKERS = 2, 2, 5, 2  # ITEMS in each slice
STEP_S = 0.03       # what a step of a real model would take
DOWN_S = 1.0        # how long the killed producer stays away
STALL_S = 0.5       # a step that waits longer has stalled
KILL_AHEAD = 10     # steps that are there when the producer is killed


def items_of(folder, worker):
    """(id, path) of each item of this worker, over all epochs."""
    files = media.files_of(folder)
    for number in range(worker, EPOCHS * len(files), WORKERS):
        yield number, files[number % len(files)]


def pack(items):
    """One slice: ragged frames, and what is needed to tell them apart."""
    frames = [media.decode(path) for _, path in items]
    files = [path.stat().st_size for _, path in items]
    return {
        "pixels": numpy.concatenate([each.reshape(-1) for each in frames]),
        "sizes": numpy.array([each.shape for each in frames], "int32"),
        "ids": numpy.array([number for number, _ in items], "int64"),
        "encoded": numpy.array(files, "int64"),
    }


def produce(url, folder, worker):
    """Appends all items of a worker, from where its offset says."""
    with ls.Producer(url, f"prep-{worker}") as producer:
        done = int(producer.offset or b"0")
        items = list(items_of(folder, worker))
        each = DP * ITEMS
        for start in range(done, len(items) - each + 1, each):
            slices = [pack(items[start + d * ITEMS:start + (d + 1) * ITEMS])
                      for d in range(DP)]
            producer.append(slices, offset=b"%d" % (start + each))
        producer.finish()


def features(tensors):
    """Mean colour of each item, and which colour it should be."""
    rows, at = [], 0
    for frames, height, width, depth in tensors["sizes"].tolist():
        size = frames * height * width * depth
        pixels = tensors["pixels"][at:at + size].reshape(-1, depth)
        rows.append(pixels.float().mean(0) / 255)
        at += size
    return torch.stack(rows), tensors["ids"] % len(media.COLOURS)


class Trainer:
    """Reads all slices of each step and learns to name the colour."""

    def __init__(self):
        torch.manual_seed(1)
        self.model = torch.nn.Linear(3, len(media.COLOURS))
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.05)
        self.losses, self.waits, self.ids = [], [], []
        self.encoded = self.decoded = 0

    def step(self, batch, waited):
        loss = 0
        for row in range(DP):
            tensors = batch.tensors("torch", row=row)
            inputs, labels = features(tensors)
            loss = loss + torch.nn.functional.cross_entropy(
                self.model(inputs * 10 - 5), labels) / DP
            self.ids += tensors["ids"].tolist()
            self.encoded += int(tensors["encoded"].sum())
            self.decoded += len(tensors["pixels"])
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.losses.append(float(loss))
        self.waits.append(waited)
        time.sleep(STEP_S)


class Killing:
    """Kills a producer once enough is there, and starts it again later."""

    def __init__(self, stream, start):
        self.stream, self.start = stream, start
        self.process = start()
        self.killed_at = self.back_at = None
        self.there = ()  # steps that were to be had when it was killed

    def look(self, step):
        now = time.monotonic()
        if self.killed_at is None:
            head = self.stream.info()["next_step"]
            if head - step >= KILL_AHEAD and self.process.poll() is None:
                self.process.send_signal(signal.SIGKILL)
                self.process.wait()
                self.killed_at, self.there = now, range(step, head)
        elif self.back_at is None and now > self.killed_at + DOWN_S:
            self.process, self.back_at = self.start(), now


def await_steps(stream, count):
    """The trainer begins once the workers are ahead of it."""
    while stream.info()["next_step"] < count:
        time.sleep(0.05)


def train(url, killing):
    trainer = Trainer()
    await_steps(killing.stream, KILL_AHEAD + 2)
    with ls.Consumer(url, rank=0, dp=1, starve_timeout=60) as consumer:
        while True:
            begin = time.monotonic()
            batch = next(consumer, None)
            if batch is None:
                return trainer, consumer.stats()
            trainer.step(batch, time.monotonic() - begin)
            killing.look(batch.next_step)


def check(trainer, stats, killing, count):
    if killing.back_at is None:
        sys.exit("no producer was killed")
    first = trainer.losses[:10], trainer.losses[-10:]
    before, after = (sum(part) / len(part) for part in first)
    during = [trainer.waits[step] for step in killing.there]
    print(f"{len(trainer.losses)} steps, {len(trainer.ids)} items, decoded to "
          f"{trainer.decoded / trainer.encoded:.1f} x their size")
    print(f"loss {before:.3f} -> {after:.3f}")
    print(f"producer killed, back after {killing.back_at - killing.killed_at:.1f}"
          f" s; longest wait of the {len(during)} steps that were there: "
          f"{max(during, default=0) * 1000:.0f} ms")
    twice = [i for i, n in collections.Counter(trainer.ids).items() if n > 1]
    if twice or len(trainer.ids) != count:
        sys.exit(f"{len(trainer.ids)} items instead of {count}, twice: {twice}")
    if after > before / 2:
        sys.exit("the loss did not fall")
    if max(during, default=0) > STALL_S:
        sys.exit("the trainer stalled")
    print(json.dumps(stats))


def main():
    if len(sys.argv) > 1:
        produce(sys.argv[1], sys.argv[2], int(sys.argv[3]))
        return
    with tempfile.TemporaryDirectory(prefix="lakestream-media-") as folder:
        root = pathlib.Path(folder)
        (root / "media").mkdir()
        media.make_all(root / "media")
        url = f"file://{folder}/stream"
        ls.create(url, dp=DP, producers=WORKERS, durability="none")

        def start(worker):
            return subprocess.Popen([sys.executable, __file__, url,
                                     str(root / "media"), str(worker)])
        other = start(1)
        killing = Killing(ls.Stream(url), lambda: start(0))
        try:
            trainer, stats = train(url, killing)
        finally:
            other.kill(), killing.process.kill()
        each = DP * ITEMS
        count = sum(len(list(items_of(root / "media", worker))) // each * each
                    for worker in range(WORKERS))
        check(trainer, stats, killing, count)


if __name__ == "__main__":
    main()
