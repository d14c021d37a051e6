"""Holds the demo's proof to account: it must pass on a right stream, and fail,
naming the place, on every way in which a stream can be wrong."""

import io
import json
import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "examples", "demo"))
sys.dont_write_bytecode = True

import proof  # noqa: E402

LAYOUT = proof.Layout(dp=2, cp=2, seq_len=8, micro_batch=2)
FILES = {"a": b"the quick brown fox", "b": b"", "c": bytes(range(256)),
         "d": b"jumps over" * 20, "e": b"x" * 31}
SHARDS = 2


def blob(tokens, shape):
    data = b"".join(token.to_bytes(2, "little") for token in tokens)
    head = json.dumps({"tokens": {"dtype": "U16", "shape": shape,
                                  "data_offsets": [0, len(data)]}}).encode()
    return len(head).to_bytes(8, "little") + head + data


def cut(tokens):
    """One TGB's tokens as slices by rank: written from the definition, not
    from the code under test."""
    slices = []
    for d in range(LAYOUT.dp):
        for c in range(LAYOUT.cp):
            part = []
            for m in range(LAYOUT.micro_batch):
                row = (d * LAYOUT.micro_batch + m) * LAYOUT.seq_len
                begin = row + c * LAYOUT.seq_len // LAYOUT.cp
                part += tokens[begin:begin + LAYOUT.seq_len // LAYOUT.cp]
            slices.append(blob(part, [LAYOUT.micro_batch,
                                      LAYOUT.seq_len // LAYOUT.cp]))
    return slices


class Stream:
    """A small stream of two producers that take turns."""

    def __init__(self, folder):
        self.names = []
        for name, data in FILES.items():
            self.names.append(os.path.join(folder, name))
            with open(self.names[-1], "wb") as file:
                file.write(data)
        self.sources = {f"p{i}": proof.shard_files(self.names, i, SHARDS)
                        for i in range(SHARDS)}
        tgbs = {name: self.pack(files) for name, files in self.sources.items()}
        self.steps = []
        for seq in range(max(map(len, tgbs.values()))):
            self.steps += [(name, seq, slices[seq])
                           for name, slices in tgbs.items()
                           if seq < len(slices)]

    @staticmethod
    def pack(files):
        tokens = []
        for path in files:
            with open(path, "rb") as file:
                tokens += [*file.read(), 256]
        size = LAYOUT.tgb_tokens
        tokens += [256] * (-len(tokens) % size)
        return [cut(tokens[i:i + size]) for i in range(0, len(tokens), size)]

    def log(self):
        return [{"step": step, "producer": producer, "seq": seq}
                for step, (producer, seq, _) in enumerate(self.steps)]

    def streams(self):
        return [io.BytesIO(b"".join(slices[rank]
                                    for _, _, slices in self.steps))
                for rank in range(LAYOUT.rank_count)]

    def seen(self):
        streams = self.streams()
        return [[(step, *proof.read_slice(stream, LAYOUT, "")[1:])
                 for step in range(len(self.steps))] for stream in streams]

    def prove(self, log=None, streams=None, seen=None):
        check = proof.Proof(LAYOUT, self.sources)
        streams = streams or self.streams()
        for entry in log or self.log():
            views = seen and [steps[entry["step"]] for steps in seen]
            check.take_step(entry, streams, views)
        return check.finish(streams)


class ProofTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.stream = Stream(folder.name)

    def assert_found(self, text, **given):
        with self.assertRaisesRegex(proof.ProofError, text):
            self.stream.prove(**given)

    def test_a_right_stream_is_proved(self):
        totals = self.stream.prove(seen=self.stream.seen())
        wanted = sum(map(len, FILES.values())) + len(FILES)
        self.assertEqual(totals.tokens, wanted)
        self.assertEqual(totals.steps, len(self.stream.steps))
        self.assertEqual(totals.steps,
                         sum(LAYOUT.tgb_count(list(map(os.path.getsize, files)))
                             for files in self.stream.sources.values()))

    def test_an_altered_byte_in_any_slice_is_found(self):
        for step, (_, _, slices) in enumerate(self.stream.steps):
            for rank, data in enumerate(slices):
                slices[rank] = data[:-1] + bytes([data[-1] ^ 1])
                self.assert_found(f"step {step} ")
                slices[rank] = data

    def test_swapped_slices_are_found(self):
        _, _, slices = self.stream.steps[0]
        slices[0], slices[1] = slices[1], slices[0]
        self.assert_found("step 0 .*byte 0 of .*/a belongs")

    def test_a_doubled_step_is_found(self):
        self.stream.steps.insert(2, self.stream.steps[0])
        self.assert_found("step 2 .*twice")

    def test_a_doubled_batch_under_a_new_seq_is_found(self):
        producer, seq, slices = self.stream.steps[-1]
        self.stream.steps.append((producer, seq + 1, slices))
        self.assert_found("after the end of its files")

    def test_a_lost_step_is_found(self):
        del self.stream.steps[1]
        self.assert_found("lost")

    def test_a_lost_end_is_found(self):
        del self.stream.steps[-1]
        self.assert_found("lacks all from byte")

    def test_swapped_steps_are_found(self):
        steps = self.stream.steps
        steps[0], steps[2] = steps[2], steps[0]
        self.assert_found("lost")

    def test_steps_under_another_producers_name_are_found(self):
        (left, seq, left_data), (right, _, right_data) = self.stream.steps[:2]
        self.stream.steps[:2] = [(left, seq, right_data),
                                 (right, seq, left_data)]
        self.assert_found("step 0 ")

    def test_missing_bytes_of_a_file_are_found(self):
        with open(self.stream.names[2], "ab") as file:
            file.write(b"more")
        self.assert_found("/c belongs")

    def test_a_missing_file_is_found(self):
        for files in self.stream.sources.values():
            path = os.path.join(os.path.dirname(files[0]), "new")
            with open(path, "wb") as file:
                file.write(bytes(200))
            files.append(path)
        self.assert_found("/new")

    def test_a_file_too_many_in_the_stream_is_found(self):
        self.stream.sources["p0"].pop()
        self.assert_found("something else than padding|after the end")

    def test_a_missing_end_token_is_found(self):
        tokens = [*FILES["a"], *FILES["c"], 256, *FILES["e"], 256]
        tokens += [256] * (-len(tokens) % LAYOUT.tgb_tokens)
        _, _, slices = self.stream.steps[0]
        slices[:] = cut(tokens[:LAYOUT.tgb_tokens])
        self.assert_found("belongs, token 256")

    def test_a_gap_in_the_log_is_found(self):
        self.assert_found("the log has step 1", log=self.stream.log()[1:])

    def test_an_unknown_producer_is_found(self):
        self.stream.steps[0] = ("stranger", *self.stream.steps[0][1:])
        self.assert_found("nobody knows")

    def test_a_short_slice_is_found(self):
        streams = self.stream.streams()
        streams[3] = io.BytesIO(streams[3].getvalue()[:-1])
        self.assert_found("rank 3: the slice ends", streams=streams)

    def test_a_slice_too_many_is_found(self):
        streams = self.stream.streams()
        streams[1] = io.BytesIO(streams[1].getvalue() + b"\0")
        self.assert_found("rank 1 has more", streams=streams)

    def test_a_wrong_shape_is_found(self):
        _, _, slices = self.stream.steps[0]
        slices[2] = blob([0] * 8, [1, 8])
        self.assert_found(r"rank 2: the tensor is U16 \[1, 8\]")

    def test_what_a_rank_saw_otherwise_is_found(self):
        seen = self.stream.seen()
        seen[2][1] = (1, "0" * 64, seen[2][1][2])
        self.assert_found("step 1 .*rank 2: it saw", seen=seen)


class SameStepsTest(unittest.TestCase):
    def check(self, *ranks, count=3):
        proof.check_same_steps([[(step, "", 0) for step in steps]
                                for steps in ranks], count)

    def test_equal_ranks_pass(self):
        self.check([0, 1, 2], [0, 1, 2])

    def test_a_rank_that_differs_is_found(self):
        for steps in ([0, 2], [0, 1], [0, 1, 1, 2], [1, 2], [0, 1, 2, 3],
                      [0, 2, 1], []):
            with self.assertRaisesRegex(proof.ProofError, "rank 1 saw"):
                self.check([0, 1, 2], steps)


if __name__ == "__main__":
    unittest.main()
