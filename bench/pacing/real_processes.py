"""Producer processes on a real store beside the model: the same counters.

Each process appends small TGBs at its rate until the time is up; the model is
then run with the times that the processes measured."""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))


def produce(url, name, policy, rate, start, seconds):
    import lakestream
    with lakestream.Producer(url, name, pacing=policy) as producer:
        time.sleep(max(0.0, start - time.time()))
        due = time.time()
        while due < start + seconds:
            time.sleep(max(0.0, due - time.time()))
            producer.append([b"x" * 64])
            due += 1 / rate
        print(json.dumps(producer.stats()), flush=True)


def run_real(args, policy):
    import lakestream
    url = f"{args.store}/real-{policy}-{os.getpid()}"
    lakestream.create(url, dp=1, cp=1)
    start = time.time() + args.warm
    processes = [
        subprocess.Popen([sys.executable, __file__, "--child", url, f"p{i:03}",
                          policy, str(args.rate), str(start),
                          str(args.seconds)], stdout=subprocess.PIPE)
        for i in range(args.producers)]
    stats = [json.loads(process.communicate()[0]) for process in processes]
    total = {key: sum(each[key] for each in stats)
             for key in ("attempts", "commits", "conflicts", "requests")}
    visible = [each["append_to_visible_ms"] for each in stats]
    return {
        "T, ms": statistics.median(each["attempt_ms"] for each in stats),
        "success": total["commits"] / max(1, total["attempts"]),
        "commits/s": total["commits"] / args.seconds,
        "fresh p50, ms": statistics.median(each["p50"] for each in visible),
        "fresh p95, ms": statistics.median(each["p95"] for each in visible),
        "requests/commit": total["requests"] / max(1, total["commits"]),
    }


def run_model(args, policy, attempt_ms):
    """A look takes a third of a try here, as on file stores."""
    command = [args.model, f"policy={policy}", f"producers={args.producers}",
               f"rate={args.rate}", f"seconds={args.seconds + 60}", "warm=60",
               "size=64", f"put_ms={attempt_ms * 0.67}",
               f"get_ms={attempt_ms * 0.33}", "stall=0"]
    model = json.loads(subprocess.check_output(command))
    return {
        "T, ms": model["t_ms"],
        "success": model["success"],
        "commits/s": model["commits_s"],
        "fresh p50, ms": 1000 * model["p50"],
        "fresh p95, ms": 1000 * model["p95"],
        "requests/commit": model["gets"] + model["lists"] + model["puts"],
    }


def show(name, row):
    print(f"| {name} | {row['T, ms']:.1f} | {100 * row['success']:.1f} % "
          f"| {row['commits/s']:.1f} | {row['fresh p50, ms']:.0f} "
          f"| {row['fresh p95, ms']:.0f} | {row['requests/commit']:.1f} |",
          flush=True)


def main():
    if sys.argv[1:2] == ["--child"]:
        url, name, policy, rate, start, seconds = sys.argv[2:]
        produce(url, name, policy, float(rate), float(start), float(seconds))
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", required=True)
    parser.add_argument("--producers", type=int, default=32)
    parser.add_argument("--rate", type=float, default=2)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--warm", type=float, default=20)
    parser.add_argument("--policies", nargs="+", default=["turns", "dac"])
    parser.add_argument("--model", default=os.path.join(
        ROOT, "build", "release", "pacing_bench"))
    args = parser.parse_args()
    print("| | T, ms | success | commits/s | fresh p50, ms | p95, ms "
          "| requests a commit |\n|---|---|---|---|---|---|---|")
    for policy in args.policies:
        real = run_real(args, policy)
        show(f"{policy}, processes", real)
        show(f"{policy}, model", run_model(args, policy, real["T, ms"]))


if __name__ == "__main__":
    main()
