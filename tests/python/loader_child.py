"""One process of the resume matrix: reads batches through a loader, prints each
one's step and hash, and then the state to go on from.

    loader_child.py URL WORKERS START LOADER STATE COUNT
"""

import hashlib
import json
import sys
import warnings

from torch.utils.data import DataLoader

from lakestream.torch import StreamDataset

warnings.filterwarnings("ignore", message="This DataLoader will create")


def make_loader(kind, dataset, workers, start):
    keywords = {"batch_size": None, "num_workers": workers}
    if workers > 0:
        keywords["multiprocessing_context"] = start
    if kind == "stateful":
        from torchdata.stateful_dataloader import StatefulDataLoader
        return StatefulDataLoader(dataset, **keywords)
    return DataLoader(dataset, **keywords)


def main():
    url, workers, start, kind, state, count = sys.argv[1:]
    workers, count, state = int(workers), int(count), json.loads(state)
    dataset = StreamDataset(url, skip=[(7, 9)])
    loader = make_loader(kind, dataset, workers, start)
    if state is not None:
        (loader if kind == "stateful" else dataset).load_state_dict(state)
    last, batches = None, iter(loader)
    for _ in range(count):
        batch = next(batches, None)
        if batch is None:
            break
        last = batch
        data = batch["x"].numpy().tobytes()
        print(batch.step, hashlib.sha256(data).hexdigest())
    if kind == "stateful":
        state = loader.state_dict()
    elif workers == 0:
        state = dataset.state_dict()
    elif last is not None:
        state = last.state
    print("state", json.dumps(state))


if __name__ == "__main__":
    main()
