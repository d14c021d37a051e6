"""Producer processes on a real store beside the model: the same counters.

    rgw.py real_processes.py file | rgw | far [--seconds 300]

Each process appends small TGBs at random times, at its rate, until the time is
up; the model is then run with the times that the processes measured. `file` is
a folder in memory, `rgw` a Ceph gateway on loopback, and `far` the same behind
a proxy whose delays are those of the model's usual store. Each run is kept in
--results, and the page is made of all that are there."""

import argparse
import contextlib
import json
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "release"
PACKAGES = BUILD / "processes" / "python"
sys.path[:0] = [str(ROOT / "tests" / "s3"), str(PACKAGES)]

PUT_MS, GET_MS, SIGMA = 45, 20, 0.4
PAGE = "pacing-processes.md"
TITLES = {
    "file": "A folder in memory",
    "rgw": "Ceph's gateway on loopback",
    "far": f"Ceph's gateway, {PUT_MS} ms (PUT) and {GET_MS} ms (others) away",
}
COLUMNS = ("T, ms", "success", "commits/s", "fresh p50, ms", "p95, ms",
           "requests a commit")
INTRO = """# Processes beside the model

Made by `make bench-processes`; [pacing.md](pacing.md) says what they tell.
"""


def produce(url, name, policy, rate, start, seconds):
    import lakestream
    clock = random.Random(name)
    with lakestream.Producer(url, name, pacing=policy) as producer:
        due = start + clock.expovariate(rate)
        while due < start + seconds:
            time.sleep(max(0.0, due - time.time()))
            producer.append([b"x" * 64])
            due += clock.expovariate(rate)
        print(json.dumps(producer.stats()), flush=True)


def install():
    """The package as pip would lay it out, where no pip is needed."""
    package = PACKAGES / "lakestream"
    shutil.copytree(ROOT / "python" / "lakestream", package, dirs_exist_ok=True)
    shutil.copy(BUILD / "python" / "lakestream" / "_core.abi3.so", package)


def run_real(args, url):
    import lakestream
    lakestream.create(url, dp=1, cp=1)
    start = time.time() + args.warm
    before = os.times()
    processes = [
        subprocess.Popen([sys.executable, __file__, "--child", url, f"p{i:03}",
                          args.policy, str(args.rate), str(start),
                          str(args.seconds)], stdout=subprocess.PIPE)
        for i in range(args.producers)]
    stats = [json.loads(process.communicate()[0]) for process in processes]
    spent = os.times()
    commits = sum(each["commits"] for each in stats)
    attempts = sum(each["attempts"] for each in stats)
    visible = [each["append_to_visible_ms"] for each in stats]
    return {
        "T, ms": statistics.median(each["attempt_ms"] for each in stats),
        "look, ms": statistics.median(each["look_ms"] for each in stats),
        "cores": (spent.children_user - before.children_user
                  + spent.children_system - before.children_system)
        / (args.seconds + args.warm),
        "success": commits / max(1, attempts),
        "commits/s": commits / args.seconds,
        "fresh p50, ms": statistics.median(each["p50"] for each in visible),
        "p95, ms": statistics.median(each["p95"] for each in visible),
        "requests a commit":
            sum(each["requests"] for each in stats) / max(1, commits),
    }


def run_model(args, real):
    """The store's times are what the processes found."""
    command = [args.model, f"policy={args.policy}", "size=64", "stall=0",
               f"producers={args.producers}", f"rate={args.rate}",
               f"seconds={args.seconds + 60}", "warm=60", f"sigma={SIGMA}",
               f"put_ms={real['T, ms'] - real['look, ms']}",
               f"get_ms={real['look, ms']}"]
    model = json.loads(subprocess.check_output(command))
    return {
        "T, ms": model["t_ms"],
        "success": model["success"],
        "commits/s": model["commits_s"],
        "fresh p50, ms": 1000 * model["p50"],
        "p95, ms": 1000 * model["p95"],
        "requests a commit": model["gets"] + model["lists"] + model["puts"],
    }


@contextlib.contextmanager
def a_folder():
    folder = f"/dev/shm/lakestream-processes-{os.getpid()}"
    yield f"file://{folder}/run"
    shutil.rmtree(folder)


@contextlib.contextmanager
def behind(*faults):
    from rude import Forward, Rude
    with Rude(Forward(os.environ["AWS_ENDPOINT_URL_S3"]), *faults) as rude:
        os.environ["AWS_ENDPOINT_URL_S3"] = rude.endpoint
        yield os.environ["LKS_S3_URL"] + f"/{os.getpid()}"


def a_store(case):
    from rude import Latency
    if case == "file":
        return a_folder()
    if case == "rgw":
        return contextlib.nullcontext(
            os.environ["LKS_S3_URL"] + f"/{os.getpid()}")
    return behind(Latency(PUT_MS / 1000, SIGMA, writes=True),
                  Latency(GET_MS / 1000, SIGMA, writes=False))


def line(name, row):
    cells = [f"{100 * row[column]:.1f} %" if column == "success" else
             f"{row[column]:.{1 if row[column] < 100 else 0}f}"
             for column in COLUMNS]
    return f"| {name} | " + " | ".join(cells) + " |"


def section(case, result):
    args = result["args"]
    return "\n".join([
        f"## {TITLES[case]}", "",
        f"{args['producers']} processes, policy {args['policy']}, "
        f"{args['rate']:g} TGBs/s each, {args['seconds']:g} s. The processes "
        f"used {result['real']['cores']:.2f} of {os.cpu_count()} cores, the "
        "store not counted.", "",
        "| | " + " | ".join(COLUMNS) + " |", "|---" * 7 + "|",
        line("processes", result["real"]), line("model", result["model"]), ""])


def write_page(args):
    parts = [INTRO]
    for case in TITLES:
        path = args.results / f"{case}.json"
        if path.exists():
            parts.append(section(case, json.loads(path.read_text())))
    (args.out / PAGE).write_text("\n".join(parts))


def main():
    if sys.argv[1:2] == ["--child"]:
        url, name, policy, rate, start, seconds = sys.argv[2:]
        produce(url, name, policy, float(rate), float(start), float(seconds))
        return
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("case", choices=list(TITLES))
    parser.add_argument("--producers", type=int, default=32)
    parser.add_argument("--rate", type=float, default=2)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--warm", type=float, default=15)
    parser.add_argument("--policy", default="turns")
    parser.add_argument("--model", default=str(BUILD / "pacing_bench"))
    parser.add_argument("--results", type=pathlib.Path,
                        default=BUILD / "processes")
    parser.add_argument("--out", type=pathlib.Path,
                        help="the folder of the page; without, none is made")
    args = parser.parse_args()
    install()
    with a_store(args.case) as url:
        real = run_real(args, url)
    result = {"args": {"producers": args.producers, "rate": args.rate,
                       "seconds": args.seconds, "policy": args.policy},
              "real": real, "model": run_model(args, real)}
    print(section(args.case, result))
    if args.out:
        args.results.mkdir(parents=True, exist_ok=True)
        (args.results / f"{args.case}.json").write_text(json.dumps(result))
        write_page(args)


if __name__ == "__main__":
    main()
