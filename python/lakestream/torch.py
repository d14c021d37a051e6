"""A stream as a dataset for PyTorch's loaders.

    dataset = StreamDataset("s3://bucket/run1")
    for batch in DataLoader(dataset, batch_size=None):
        loss = model(batch["tokens"])
        ...
        save({"data": dataset.state_dict(), ...})

Works with torch.utils.data.DataLoader, torchdata's StatefulDataLoader and
torch.distributed.checkpoint.
"""

import mmap
from multiprocessing.context import get_spawning_popen
import os

import torch
from torch.utils.data import IterableDataset, get_worker_info

from . import _core, arrays, consumer, errors, mesh as meshes
from .config import as_url, check_place, to_options
from .memory import check_allocator
from .skips import Skips
from .torch_batch import TensorBatch, as_bytes
from .torch_mesh import find_place
from .torch_run import join_group
from .torch_peers import shared_batches

__all__ = ["StreamDataset", "TensorBatch", "shared_batches"]


class _Worker:
    """Which of a DataLoader's workers this process is."""

    def __init__(self):
        info = get_worker_info()
        self.inside = info is not None
        self.id, self.count = (info.id, info.num_workers) if info else (0, 1)
        self.parent = os.getppid() if self.inside else 0


class StreamDataset(IterableDataset):
    """One rank's batches, in the order of the stream, to its end.

    url         of the stream
    rank, dp, cp  this rank, d * cp + c, in the mesh dp x cp. Without `rank`
                torch.distributed says it: all its ranks are dp x cp then. cp is
                the stream's if the number of ranks allows it.
    mesh        a DeviceMesh instead; its dimensions `dp_dim` and `cp_dim` count
    step        where to begin; None is the first live step
    skip        stream steps to leave out: numbers, or (from, to) pairs, the end
                exclusive. Must be the same on all ranks; with a group under
                torch.distributed that is checked.
    decode      "tensors": safetensors as torch tensors, `batch["name"]`;
                "raw": `batch.slices` as uint8 tensors; or a function of a
                lakestream batch, whose result is handed out
    meta        whether to read the producers' metadata: a request per batch
    group, run  the training job and this start of it, as for Consumer. Without
                `run`, and where no launcher names one, rank 0 of
                torch.distributed makes one for all. Under torch.distributed
                all ranks must make datasets with a group together.
    allocator   where batches stand, as for Consumer: page-locked memory, say.
                For num_workers=0; what a worker sends is copied anyway.
    options     the library's, by name: prefetch_bytes, starve_timeout, ...

    Use DataLoader(batch_size=None). Workers are rarely needed, as the library
    fetches ahead by itself. With n workers, each reads every n-th step, and
    begins a step when n are there.

    Saving: `state_dict()` is the position behind the last batch handed out.
    With workers of the plain DataLoader only the batches know it: save
    `batch.state`. Iterating again goes on where it was.
    """

    def __init__(self, url, *, rank=None, dp=None, cp=None, mesh=None,
                 dp_dim="dp", cp_dim="cp", step=None, skip=(),
                 decode="tensors", meta=False, group=None, run=None,
                 allocator=None, **options):
        super().__init__()
        if decode not in ("tensors", "raw") and not callable(decode):
            raise errors.Invalid(f'decode {decode!r}: "tensors", "raw" or a '
                                 "function")
        rank, dp, cp, step = check_place(rank, dp, cp, step, group)
        self._url = as_url(url)
        self._place = find_place(rank, dp, cp, mesh, dp_dim, cp_dim)
        self._skips = Skips(skip)
        check_allocator(allocator)
        self._decode, self._meta = decode, meta
        self._allocator = allocator
        self._options = to_options({"group": group, "run": run, **options})
        self._member = None
        self._step = step        # where the next batch begins, if known
        self._is_own = False     # ... of this worker, not of all together
        self._read_elsewhere = mmap.mmap(-1, 1)  # set by a worker of it
        self._sent = False
        self._forget()
        self._join()

    def _join(self):
        """Becomes a rank of the group, if there is one, once all that can be
        refused was. Later the library's consumers need not know: they may be in
        workers."""
        stream, share = self._open(), self._find_share()
        if self._step is not None:
            self._check_step(self._step, share)
        self._member = join_group(stream, self._where(stream),
                                  self._options, self._step,
                                  self._skips.ranges)
        self._options.pop("run", None)
        if self._member is not None:
            self._options["group"] = ""

    def _forget(self):
        self._stream = self._reader = self._share = None
        self._stride = 1
        self._has_read = False
        self._pid_of_stream = None

    def __getstate__(self):
        state = self.__dict__.copy()
        for name in ("_stream", "_reader", "_share", "_read_elsewhere"):
            del state[name]
        state["_member"] = None  # the original has it
        self._sent = self._sent or get_spawning_popen() is not None
        return state

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._read_elsewhere = mmap.mmap(-1, 1)
        self._sent = False
        self._forget()

    # ------------------------------------------------------------ reading --

    def _open(self):
        """The stream, in this process: a fork does not inherit it."""
        if self._pid_of_stream != os.getpid():
            self._forget()
            self._stream = _core.stream_open(self._url, self._options)
            self._pid_of_stream = os.getpid()
        return self._stream

    def _where(self, stream):
        """(rank, dp, cp)"""
        return self._place.over(stream.dp, stream.cp)

    def _find_share(self, stride=1):
        stream = self._open()
        return meshes.share(stream.dp, stream.cp, *self._where(stream),
                            stride=stride)

    def _check_step(self, step, share):
        if not self._skips.may_lead_to(step, share.group):
            consumer.check_not_behind_end(self._stream, step)

    def _find_first(self, share):
        """The first live step."""
        first = self._stream.consumer(*share.parts[0], None, self._options,
                                      None)
        step = first.step
        first.close()
        return step

    def _begin(self):
        """Finds the first step of this process."""
        self._share = self._find_share()
        worker = _Worker()
        if worker.inside:
            self._read_elsewhere[0] = 1
        if self._step is None:
            self._step = self._find_first(self._share)
        if not self._is_own:
            self._step = self._skips.ahead(self._step, self._share.group,
                                           worker.id)
            self._is_own = worker.inside
        self._open_reader(worker.count)

    def _open_reader(self, stride):
        self._close_reader()
        share = self._find_share(stride)
        self._reader = consumer.Reader(self._stream, share, self._step,
                                       self._options, stride,
                                       allocator=self._allocator,
                                       parent=_Worker().parent)
        self._stride = stride

    def _close_reader(self):
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def _take(self):
        """The next batch. Raises Ended."""
        self._step = self._skips.first_from(self._step, self._share.group)
        if self._reader.step != self._step:
            self._reader.seek(self._step)
        try:
            batch = self._reader.next()
        except errors.Ended:
            if self._stride == 1:
                raise
            # Fewer are left than there are workers: one by one, then.
            self._open_reader(1)
            return self._take()
        worker = _Worker()
        self._step = self._skips.ahead(self._step, self._share.group,
                                       worker.count)
        self._has_read = True
        return batch

    def _convert(self, batch):
        if callable(self._decode):
            return self._decode(batch)
        meta = batch.meta if self._meta else None
        where = (batch.step, batch.next_step, self._stream.id)
        if self._decode == "raw":
            return TensorBatch(*where, {}, map(as_bytes, batch.slices), meta)
        return TensorBatch(*where, batch.tensors("torch"), meta=meta)

    def __iter__(self):
        self._open()  # which forgets what belongs to a parent process
        if self._reader is None:
            self._begin()
        self._has_read = True
        return self._batches()

    def _batches(self):
        while True:
            if self._reader is None:  # a state was loaded meanwhile
                self._begin()
            try:
                batch = self._take()
            except errors.Ended:
                return
            yield self._convert(batch)

    def checkpointed(self, step, oldest_kept=None):
        """As Consumer.checkpointed(). Call it in the process that made the
        dataset, not in a DataLoader's worker. While workers read, a step that
        was not handed out yet is refused only if it is beyond the stream."""
        if self._member is None:
            raise errors.Invalid("checkpointed() is for ranks of a group: make "
                                 "the dataset with group=")
        if not self._is_away():
            position = self.state_dict()["step"]
            if step > position:
                raise errors.Invalid(f"a checkpoint at step {step} cannot be: "
                                     f"the next to hand out is {position}")
        self._member.checkpointed(step, oldest_kept)

    def close(self):
        """Ends fetching ahead. Iterating opens it again."""
        self._close_reader()

    def stats(self):
        """The reader's counters in this process; see Consumer.stats()."""
        return self._reader.stats() if self._reader is not None else {}

    # -------------------------------------------------------------- state --

    def _is_away(self):
        """Whether another process reads for this one, as far as is known."""
        return bool(self._sent or self._read_elsewhere[0])

    def follow(self, step):
        """A peer handed out what comes before `step`; see shared_batches()."""
        self._step, self._is_own = step, False

    def state_dict(self):
        """{"version": 1, "stream": id, "step": n}: n is the step of the batch
        that comes next. The same on all ranks.

        Raises Error in a process whose DataLoader reads in workers: this copy
        does not know how far they are, but `batch.state` of the last batch
        does.
        """
        worker = _Worker()
        if self._is_away() and not self._has_read and not worker.inside:
            raise errors.Error(
                "DataLoader workers read this dataset, so this copy does not "
                "know the position: save batch.state of the last batch, or use "
                "num_workers=0 or torchdata's StatefulDataLoader")
        if self._step is None or self._stream is None:
            self._locate()
        step = self._step
        if not self._is_own:
            group = self._share.group if self._share else 1
            step = self._skips.first_from(step, group)
        state = {"version": consumer.STATE_VERSION, "stream": self._stream.id,
                 "step": step}
        if self._is_own:
            state |= {"worker": worker.id, "workers": worker.count}
        return state

    def _locate(self):
        """Opens the stream, and finds the first step if none is known."""
        share = self._find_share()
        if self._step is None:
            self._step = self._find_first(share)

    def load_state_dict(self, state):
        """Continues at a state: of any rank of any mesh, a `batch.state`, or a
        bare step. Reclaimed is raised when the first batch is asked for."""
        worker = _Worker()
        step = consumer.state_step(state, self._open())
        owner = state.get("worker") if isinstance(state, dict) else None
        if owner is None:
            self._check_step(step, self._find_share())
        if self._member is not None:
            self._member.check(step)
        if owner is not None and (not worker.inside or (owner, state["workers"])
                                  != (worker.id, worker.count)):
            raise errors.Invalid(
                f"the state is that of worker {owner} of {state['workers']}: "
                "give the loader's whole state to a StatefulDataLoader with as "
                "many workers")
        self._close_reader()
        self._step, self._is_own = step, owner is not None
        self._sent, self._read_elsewhere[0] = False, 0


# Types that this torch lacks, by their safetensors names: refused when met, but
# U16 and U32 are widened.
LACKING = tuple(name for name, dtype in arrays.NUMPY.items()
                if not hasattr(torch, dtype))
