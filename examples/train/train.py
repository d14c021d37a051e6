#!/usr/bin/env python3
"""Trains a small byte-level language model on a stream, with DDP.

One process per rank, started with RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT as
torchrun sets them. Any number of ranks that the stream's dp divides by, or the
other way round, sees the same global batches. Killed at any point and started
again, it goes on from the last checkpoint.

    train.py URL --folder CHECKPOINTS [--steps N]
"""

import argparse
import hashlib
import json
import os
import pathlib

import torch
from torch import nn
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader

from lakestream.torch import StreamDataset

TOKENS = 257  # bytes, and the end token
WIDTH, HEADS = 32, 4
CHECKPOINT_STEPS = 10


class Model(nn.Module):
    """One transformer layer: enough to see whether a batch is another one."""

    def __init__(self, length):
        super().__init__()
        self.embed = nn.Embedding(TOKENS, WIDTH)
        self.place = nn.Parameter(torch.zeros(length, WIDTH))
        self.layer = nn.TransformerEncoderLayer(
            WIDTH, HEADS, 4 * WIDTH, dropout=0.0, batch_first=True)
        self.head = nn.Linear(WIDTH, TOKENS)
        mask = torch.full((length, length), float("-inf")).triu(1)
        self.register_buffer("mask", mask)

    def forward(self, tokens):
        hidden = self.embed(tokens) + self.place
        return self.head(self.layer(hidden, self.mask))


def batch_hash(tokens):
    """Of the global batch: its rows in the order of the ranks."""
    rows = [hashlib.sha256(row.numpy().tobytes()).hexdigest() for row in tokens]
    gathered = [None] * dist.get_world_size()
    dist.all_gather_object(gathered, rows)
    text = "".join(row for rows in gathered for row in rows)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def train_step(model, optimizer, tokens):
    """Returns the loss over the global batch."""
    logits = model(tokens)[:, :-1]
    loss = nn.functional.cross_entropy(
        logits.reshape(-1, TOKENS), tokens[:, 1:].reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total = loss.detach().clone()
    dist.all_reduce(total)
    return total.item() / dist.get_world_size()


class Checkpoint:
    """Model, optimizer and place in the stream, in one file."""

    def __init__(self, folder):
        self.path = pathlib.Path(folder) / "checkpoint.pt"

    def load(self, model, optimizer, dataset):
        if not self.path.exists():
            return
        saved = torch.load(self.path)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        dataset.load_state_dict(saved["data"])

    def save(self, model, optimizer, dataset):
        """All ranks: the watermark may move only once the save is durable."""
        state = dataset.state_dict()
        if dist.get_rank() == 0:
            beside = self.path.with_suffix(".new")
            with open(beside, "wb") as file:
                torch.save({"model": model.state_dict(),
                            "optimizer": optimizer.state_dict(),
                            "data": state}, file)
                os.fsync(file.fileno())
            os.replace(beside, self.path)
        dist.barrier()
        dataset.checkpointed(state["step"])


def run(arguments):
    dataset = StreamDataset(arguments.url, cp=1, group="train",
                            starve_timeout=60)
    torch.manual_seed(1)
    checkpoint = Checkpoint(arguments.folder)
    log = open(os.path.join(arguments.folder, "log"), "a", buffering=1)
    model = DistributedDataParallel(Model(arguments.length))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    checkpoint.load(model, optimizer, dataset)

    for batch in DataLoader(dataset, batch_size=None):
        tokens = batch["tokens"].long()
        digest = batch_hash(tokens)
        loss = train_step(model, optimizer, tokens)
        if dist.get_rank() == 0:
            print(json.dumps({"step": batch.step, "hash": digest, "loss": loss,
                              "bits": loss.hex()}), file=log)
        if batch.next_step % CHECKPOINT_STEPS == 0:
            checkpoint.save(model, optimizer, dataset)
        if batch.next_step >= arguments.steps:
            break


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("--folder", required=True)
    parser.add_argument("--steps", type=int, default=10 ** 9)
    parser.add_argument("--length", type=int, default=128)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    dist.init_process_group("gloo")
    run(parser.parse_args())
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
