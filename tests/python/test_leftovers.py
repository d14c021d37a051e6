"""What stays behind: nothing after a SIGKILL, and no memory after many steps.
And the manual's first example."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import lakestream as ls

READER = """
import sys
import lakestream as ls
with ls.Consumer(sys.argv[1], starve_timeout=60) as consumer:
    print(bytes(memoryview(next(consumer)))[:1], flush=True)
    for batch in consumer:
        pass
"""
WRITER = """
import sys
import lakestream as ls
with ls.Producer(sys.argv[1], sys.argv[2]) as producer:
    print("open", flush=True)
    while True:
        producer.append([bytes(50_000)])
"""
KILLS = 50


def test_fifty_sigkills_leave_nothing(url, tmp_path):
    with ls.Producer(url, "first") as producer:
        producer.append([b"x" * 1000])
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    killed = []
    while len(killed) < KILLS:
        processes = [subprocess.Popen(
            [sys.executable, "-c", code, url, f"w{len(killed) % 4}"],
            stdout=subprocess.PIPE, env=environment) for code in (READER, WRITER)]
        for process in processes:
            process.stdout.readline()
        time.sleep(0.002 * (len(killed) % 7))
        for process in processes:
            process.send_signal(signal.SIGKILL)
            process.communicate()
            killed.append(str(process.pid))
    assert list(tmp_path.iterdir()) == []
    # Others use /dev/shm meanwhile; what is left there has its maker's pid.
    assert [name for name in os.listdir("/dev/shm")
            if any(pid in re.split(r"\D+", name) for pid in killed)] == []
    assert ls.Stream(url).verify(data=True)["ok"]


def resident_mib():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2 ** 20


def test_memory_is_flat_over_many_steps(url, fill):
    fill(url, 1000, lambda step: [bytes(4096)])
    sizes = []
    with ls.Consumer(url, prefetch_bytes="1MiB") as consumer:
        for _ in range(40):
            for _ in consumer:
                pass
            consumer.load_state_dict(0)
            sizes.append(resident_mib())
    assert sizes[-1] < sizes[4] + 12, sizes


def test_the_manuals_first_example_runs(place):
    page = pathlib.Path(__file__).resolve().parents[2] / "docs" / "python.md"
    code = re.search(r"```python\n(import lakestream.*?)```", page.read_text(),
                     re.S)[1]
    run = subprocess.run(
        [sys.executable, "-c", code.replace("file:///data/run1", place + "/run")],
        capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    assert len(run.stdout.splitlines()) == 100


TRAINER = """
import sys
from torch.utils.data import DataLoader
from lakestream.torch import StreamDataset
dataset = StreamDataset(sys.argv[1], decode="raw", starve_timeout=1800)
for batch in DataLoader(dataset, batch_size=None, num_workers=2):
    print(batch.step, flush=True)
"""


def test_workers_go_when_their_trainer_is_killed(url):
    with ls.Producer(url, "p") as producer:
        for _ in range(8):  # a worker begins a step when as many are there
            producer.append([b"x"])
    trainer = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", TRAINER, url],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    for step in range(4):
        assert int(trainer.stdout.readline()) == step
    trainer.kill()
    assert trainer.stdout.read() == b""  # and nobody can write any more
    trainer.wait()
