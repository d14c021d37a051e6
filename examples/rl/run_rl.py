#!/usr/bin/env python3
"""A loop as in reinforcement learning: what is in a batch depends on the policy.

Rollout workers sample from the policy that the trainer published last, keep what
is good enough, and append a batch when it is full: so nobody can say in advance
which rollouts, or how many, a batch is made of. The version of the policy comes
back to the trainer as the batch's metadata. The stream's limit on live steps
keeps the workers from running ahead of the trainer, who moves it on by its
checkpoints.

The policy is one of a lottery with several arms; the trainer must find the best.

    run_rl.py
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy

import lakestream as ls

ARMS = numpy.array([0.2, 0.5, 0.9, 0.4])  # chance to win
ROWS, STEPS, WORKERS = 64, 40, 2
LIVE_STEPS = 4  # how far the workers may be ahead of the trainer
RATE = 1.5


def read_policy(path):
    policy = json.loads(path.read_text())
    return policy["version"], numpy.array(policy["logits"])


def publish_policy(path, version, logits):
    beside = path.with_suffix(".new")
    beside.write_text(json.dumps({"version": version,
                                  "logits": list(logits)}))
    os.replace(beside, path)


def chances(logits):
    weights = numpy.exp(logits - logits.max())
    return weights / weights.sum()


def roll_out(url, path, name):
    """One worker: appends until the stream ends."""
    random = numpy.random.default_rng(int(name.rpartition("-")[2]))
    with ls.Producer(url, name) as producer:
        while True:
            version, logits = read_policy(path)
            actions, rewards, tries = [], [], 0
            while len(actions) < ROWS:
                action = random.choice(len(ARMS), p=chances(logits))
                reward = float(random.random() < ARMS[action])
                tries += 1
                if reward > 0 or random.random() < 0.3:  # keep few failures
                    actions.append(action)
                    rewards.append(reward)
            batch = {"actions": numpy.array(actions, "int16"),
                     "rewards": numpy.array(rewards, "float32")}
            meta = json.dumps({"policy": version, "rollouts": tries})
            try:
                producer.append([batch], meta=meta.encode())
                producer.flush()  # so that the next one sees a newer policy
            except ls.Ended:
                return


def improve(logits, batch):
    """One step of REINFORCE on the batch."""
    tensors = batch.tensors()
    advantage = tensors["rewards"] - tensors["rewards"].mean()
    gradient = numpy.zeros_like(logits)
    for action, gain in zip(tensors["actions"], advantage):
        gradient += gain * (numpy.eye(len(logits))[action] - chances(logits))
    return logits + RATE * gradient / len(advantage)


def train(url, path):
    """Returns the policy, and each batch's (version now, meta)."""
    logits, seen = numpy.zeros(len(ARMS)), []
    with ls.Consumer(url, group="trainer", run="demo.1", reclaim="yes",
                     starve_timeout=60) as consumer:
        for version, batch in enumerate(consumer):
            seen.append((version, json.loads(batch.meta)))
            logits = improve(logits, batch)
            publish_policy(path, version + 1, logits)
            consumer.checkpointed(batch.next_step)
            if len(seen) == STEPS:
                break
    ls.Stream(url).seal()
    return logits, seen


def check(logits, seen):
    lags = [version - meta["policy"] for version, meta in seen]
    policies = [meta["policy"] for _, meta in seen]
    rollouts = [meta["rollouts"] for _, meta in seen]
    best = int(numpy.argmax(logits))
    print(f"{len(seen)} batches of {ROWS} rollouts kept, out of "
          f"{min(rollouts)} to {max(rollouts)} each")
    print(f"policies {policies[0]} to {policies[-1]}, "
          f"{numpy.mean(lags):.1f} versions old on average, {max(lags)} at most")
    print(f"chance of the best arm: {chances(logits)[best]:.2f}")
    if best != int(numpy.argmax(ARMS)):
        sys.exit("the trainer did not find the best arm")
    # A batch that waits while the other worker's go first may be older.
    if min(lags) < 0 or numpy.mean(lags) > LIVE_STEPS + WORKERS:
        sys.exit("batches were made by policies that are too old, or not yet")
    if len(set(rollouts)) == 1 or policies[-1] <= policies[0]:
        sys.exit("the batches do not depend on the policy")


def main():
    if len(sys.argv) > 1:
        roll_out(sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3])
        return
    with tempfile.TemporaryDirectory(prefix="lakestream-rl-") as folder:
        url, path = f"file://{folder}/stream", pathlib.Path(folder) / "policy"
        ls.create(url, producers=WORKERS, max_live_steps=LIVE_STEPS)
        publish_policy(path, 0, numpy.zeros(len(ARMS)))
        workers = [subprocess.Popen(
            [sys.executable, __file__, url, path, f"rollout-{i}"])
            for i in range(WORKERS)]
        try:
            check(*train(url, path))
            if any([worker.wait(30) for worker in workers]):
                sys.exit("a worker failed")
        finally:
            for worker in workers:
                worker.kill()


if __name__ == "__main__":
    main()
