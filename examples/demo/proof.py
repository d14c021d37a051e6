"""Proves that a stream holds every token of its files exactly once.

The proof knows nothing of how the stream was made. It gets the log, which
says whose TGB each step is, and each rank's slices in the order of the steps.
It puts the slices of a step together again, and holds each producer's tokens
against the files of its shard, byte by byte. Memory does not grow with the
data: one step and a piece of one file at a time.
"""

import collections
import hashlib
import json

END_TOKEN = 256
PAD_TOKEN = 256
PIECE_SIZE = 1 << 20
HEADER_SIZE_MAX = 1 << 20


class ProofError(Exception):
    """The stream is not what it must be; the text says where."""


class Layout:
    """How `lakestream pack` cuts tokens into slices."""

    def __init__(self, dp, cp, seq_len, micro_batch=1):
        self.dp, self.cp = dp, cp
        self.seq_len, self.micro_batch = seq_len, micro_batch
        self.rank_count = dp * cp
        self.row_size = 2 * seq_len // cp
        self.slice_size = micro_batch * self.row_size
        self.tgb_tokens = dp * micro_batch * seq_len

    def tgb_count(self, file_sizes):
        """The TGBs that files of these sizes make, the last one padded."""
        tokens = sum(file_sizes) + len(file_sizes)
        return -(-tokens // self.tgb_tokens)


def shard_files(files, index, count):
    """File k of the arguments goes to shard k mod N."""
    return files[index::count]


def as_tokens(data):
    """Bytes as little-endian u16 tokens."""
    tokens = bytearray(2 * len(data))
    tokens[::2] = data
    return tokens


class Source:
    """What one producer must have put into the stream, in order."""

    def __init__(self, files):
        self.files = files
        self.pieces = self._read()
        self.piece, self.used = b"", 0
        self.origin = ("", 0)
        self.seq = 0
        self.padding = 0

    def _read(self):
        for path in self.files:
            position = 0
            with open(path, "rb") as file:
                while data := file.read(PIECE_SIZE):
                    yield (path, position), as_tokens(data)
                    position += len(data)
            yield (path, position), END_TOKEN.to_bytes(2, "little")

    def _fill(self):
        """Whether there is anything left of the piece in hand, or another."""
        if self.used < len(self.piece):
            return True
        self.origin, self.piece = next(self.pieces, (self.origin, b""))
        self.used = 0
        return len(self.piece) > 0

    def compare(self, tokens, where):
        """Holds one TGB's tokens, a memoryview, against what comes next."""
        if not self._fill():
            raise ProofError(f"{where}: comes after the end of its files: "
                             "something is in the stream twice")
        at = 0
        while at < len(tokens) and self._fill():
            size = min(len(tokens) - at, len(self.piece) - self.used)
            expected = memoryview(self.piece)[self.used:self.used + size]
            if tokens[at:at + size] != expected:
                raise ProofError(self._describe(tokens[at:at + size], expected,
                                                where))
            at += size
            self.used += size
        self.padding += (len(tokens) - at) // 2
        if tokens[at:] != PAD_TOKEN.to_bytes(2, "little") * self.padding:
            raise ProofError(f"{where}: after the last file comes something "
                             "else than padding")

    def _describe(self, tokens, expected, where):
        place = next(i for i in range(0, len(expected), 2)
                     if tokens[i:i + 2] != expected[i:i + 2])
        path, position = self.origin
        found = int.from_bytes(tokens[place:place + 2], "little")
        wanted = int.from_bytes(expected[place:place + 2], "little")
        return (f"{where}: token {found} stands where byte "
                f"{position + (self.used + place) // 2} of {path} "
                f"belongs, token {wanted}")

    def finish(self, producer):
        if self._fill():
            path, position = self.origin
            raise ProofError(f"{producer}: the stream lacks all from byte "
                             f"{position + self.used // 2} of {path} on")


def read_exactly(stream, size, where):
    data = stream.read(size)
    if len(data) != size:
        raise ProofError(f"{where}: the slice ends after {len(data)} of "
                         f"{size} bytes")
    return data


def read_slice(stream, layout, where):
    """The next safetensors blob: its token bytes, its SHA-256, its size."""
    head = read_exactly(stream, 8, where)
    size = int.from_bytes(head, "little")
    if size > HEADER_SIZE_MAX:
        raise ProofError(f"{where}: this is no safetensors blob")
    text = read_exactly(stream, size, where)
    try:
        tensors = json.loads(text)
        tokens = tensors["tokens"]
        begin, end = tokens["data_offsets"]
        shape, dtype = tokens["shape"], tokens["dtype"]
        data_size = max(tensor["data_offsets"][1]
                        for name, tensor in tensors.items()
                        if name != "__metadata__")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ProofError(f"{where}: the blob's header is broken: {error!r}")
    wanted = [layout.micro_batch, layout.seq_len // layout.cp]
    if (dtype, shape, end - begin) != ("U16", wanted, layout.slice_size):
        raise ProofError(f"{where}: the tensor is {dtype} {shape}, not "
                         f"U16 {wanted}")
    data = read_exactly(stream, data_size, where)
    digest = hashlib.sha256(head + text)
    digest.update(data)
    return memoryview(data)[begin:end], digest.hexdigest(), 8 + size + data_size


def assemble(slices, layout):
    """A step's tokens in the order of its sequences: sequence i is row
    i mod M of the slices with d = i div M, cut into cp parts."""
    rows = []
    for d in range(layout.dp):
        parts = slices[d * layout.cp:(d + 1) * layout.cp]
        for m in range(layout.micro_batch):
            begin = m * layout.row_size
            rows += [part[begin:begin + layout.row_size] for part in parts]
    return memoryview(b"".join(rows))


Totals = collections.namedtuple("Totals", "steps tokens padding")


class Proof:
    """Checks one stream. `sources` maps producer ids to lists of files."""

    def __init__(self, layout, sources):
        self.layout = layout
        self.sources = {name: Source(files) for name, files in sources.items()}
        self.steps = 0

    def take_step(self, entry, streams, seen=None):
        """One line of the log and the ranks' next slices. `seen` has what
        each rank saw of this step before: (step, SHA-256, size)."""
        step = entry["step"]
        producer, seq = entry["producer"], entry["seq"]
        where = f"step {step} ({producer} seq {seq})"
        if step != self.steps:
            raise ProofError(f"the log has step {step} where step "
                             f"{self.steps} is due")
        source = self.sources.get(producer)
        if source is None:
            raise ProofError(f"{where}: nobody knows this producer")
        if seq != source.seq:
            raise ProofError(f"{where}: seq {source.seq} is due: "
                             + ("a TGB is there twice" if seq < source.seq
                                else "a TGB is lost"))
        slices = []
        for rank, stream in enumerate(streams):
            name = f"{where}, rank {rank}"
            tokens, digest, size = read_slice(stream, self.layout, name)
            if seen is not None and seen[rank] != (step, digest, size):
                raise ProofError(f"{name}: it saw {seen[rank]} and reads "
                                 f"{(step, digest, size)} now")
            slices.append(tokens)
        source.compare(assemble(slices, self.layout), where)
        source.seq += 1
        self.steps += 1

    def finish(self, streams):
        """After the last step: nothing is left, on either side."""
        for rank, stream in enumerate(streams):
            if stream.read(1):
                raise ProofError(f"rank {rank} has more than "
                                 f"{self.steps} steps")
        for producer, source in self.sources.items():
            source.finish(producer)
        padding = sum(source.padding for source in self.sources.values())
        return Totals(self.steps,
                      self.steps * self.layout.tgb_tokens - padding, padding)


def check_same_steps(seen, step_count):
    """All ranks saw the steps 0 .. n-1, each once and in order. `seen` has a
    list of (step, SHA-256, size) per rank."""
    for rank, steps in enumerate(seen):
        for place, (step, _, _) in enumerate(steps):
            if step != place:
                raise ProofError(f"rank {rank} saw step {step} where step "
                                 f"{place} was due")
        if len(steps) != step_count:
            raise ProofError(f"rank {rank} saw {len(steps)} steps of "
                             f"{step_count}")
