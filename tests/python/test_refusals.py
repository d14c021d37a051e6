"""What cannot be meant is refused, and not cut to fit."""

import ctypes
import pathlib

import numpy
import pytest
from torch.utils.data import DataLoader

import lakestream as ls
from lakestream.skips import Skips
from lakestream.torch import StreamDataset


@pytest.mark.parametrize("number", [-1, 2 ** 32, 2 ** 64, 2 ** 64 + 1])
def test_ranks_and_meshes_are_not_cut(place, url, fill, number):
    fill(url, 3)
    with pytest.raises(ValueError):
        ls.create(place + "/other", dp=number)
    with pytest.raises(ValueError):
        ls.Consumer(url, rank=number)
    with pytest.raises(ValueError):
        ls.Consumer(url, dp=number)
    with pytest.raises(ValueError):
        ls.Stream(url).get(0, number)
    with pytest.raises(ValueError):
        ls.Stream(url).evict(group="g", rank=number)


@pytest.mark.parametrize("step", [-1, 2 ** 64 - 1, 2 ** 64, 2 ** 64 + 1])
def test_steps_are_not_cut(url, place, fill, step):
    fill(url, 3)
    stream = ls.Stream(url)
    for call in (lambda: ls.Consumer(url, step=step),
                 lambda: ls.Consumer(url).load_state_dict(step),
                 lambda: next(iter(StreamDataset(url, step=step))),
                 lambda: ls.Consumer(url, group="g").checkpointed(step),
                 lambda: stream.get(step, 0),
                 lambda: stream.pin("p", step),
                 lambda: stream.watermark("g", 1, 0, step),
                 lambda: stream.limit(max_live_steps=step),
                 lambda: stream.fork(step, place + "/fork")):
        with pytest.raises(ValueError):
            call()
    assert stream.info()["pins"] == []


def test_whole_numbers_of_other_kinds_are_numbers(url, fill):
    fill(url, 5, lambda step: [{"x": numpy.ones(1)}])
    two = numpy.int64(2)
    with ls.Consumer(url, step=two, prefetch_bytes=numpy.int64(1 << 20)) as reader:
        assert next(reader).step == 2
        reader.load_state_dict(numpy.uint8(4))
        assert next(reader).step == 4
    steps = [b.step for b in StreamDataset(url, skip=[[0, 2], numpy.int32(3)])]
    assert steps == [2, 4]
    with pytest.raises(TypeError):
        StreamDataset(url, skip=["3"])


def test_a_url_is_a_text_or_a_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for what in (None, b"file:///run", 7):
        for use in (ls.create, ls.Stream, ls.Consumer, StreamDataset,
                    lambda url: ls.Producer(url, "p")):
            with pytest.raises(TypeError):
                use(what)
    assert list(tmp_path.iterdir()) == []
    ls.create(pathlib.Path("run-ä"))
    assert ls.Stream("run-ä").dp == 1


def test_tensors_have_names_and_declared_axes(url):
    x = numpy.ones((2, 2))
    with ls.Producer(url, "p") as producer:
        for slices, keywords in (([{1: x}], {}), ([{"__metadata__": x}], {}),
                                 ([{"x": x}], {"cp_axis": -1}),
                                 ([b"raw"], {"cp_axis": 1})):
            with pytest.raises(ValueError):
                producer.append(slices, **keywords)
        with pytest.raises(TypeError):
            producer.append([{"x": x}], cp_axis="1")
        producer.append([{"ключ": x.T, "": numpy.float32(1)}])
    batch = next(ls.Consumer(url))
    assert set(batch.tensors()) == {"ключ", ""}


def test_what_cannot_read_does_not_fence_those_that_do(place, fill):
    url = place + "/two"
    ls.create(url, dp=2)
    fill(url, 4, lambda step: [{"x": numpy.ones(1)}] * 2)
    healthy = StreamDataset(url, rank=0, group="f", run="a.1")
    for wrong in ({"rank": 0, "dp": 3, "cp": 1}, {"rank": 5}, {"dp": 0, "rank": 0},
                  {"rank": 0, "step": 5}, {"rank": 0, "prefetch_bites": 1}):
        for kind in (ls.Consumer, StreamDataset):
            with pytest.raises(ValueError):
                kind(url, group="f", run="z.9", **wrong)
            with pytest.raises(ValueError):
                kind(url, **wrong)
    group, = ls.Stream(url).info()["groups"]
    assert (group["run"], group["attempt"]) == ("a", 1)
    next(iter(healthy))
    healthy.checkpointed(1)


def test_a_dataset_checkpoints_what_it_handed_out(url, fill):
    fill(url, 12, lambda step: [{"x": numpy.ones(1)}])
    dataset = StreamDataset(url, group="g", run="a.1", skip=[(2, 4)])
    with pytest.raises(ls.Invalid, match="11 cannot be: the next .* is 0"):
        dataset.checkpointed(11)
    batches = iter(dataset)
    assert [next(batches).step, next(batches).step] == [0, 1]
    with pytest.raises(ls.Invalid, match="is 4"):
        dataset.checkpointed(5)
    dataset.checkpointed(2)
    dataset.checkpointed(dataset.state_dict()["step"])
    assert ls.Stream(url).info()["groups"][0]["step"] == 4


@pytest.mark.parametrize("workers", [0, 2])
def test_a_step_behind_the_end_is_no_finished_run(url, fill, workers):
    fill(url, 10, lambda step: [{"x": numpy.ones(1)}])
    for call in (lambda: ls.Consumer(url, step=11),
                 lambda: ls.Consumer(url).load_state_dict(1000),
                 lambda: StreamDataset(url, step=11),
                 lambda: StreamDataset(url).load_state_dict(11)):
        with pytest.raises(ls.Invalid, match="behind the end"):
            call()
    assert list(ls.Consumer(url, step=10)) == []

    dataset = StreamDataset(url, step=8, skip=[(9, 10 ** 18)])
    loader = DataLoader(dataset, batch_size=None, num_workers=workers)
    assert [batch.step for batch in loader] == [8]
    if workers == 0:  # the state is behind what is left out, and may be loaded
        dataset.load_state_dict(dataset.state_dict())
    dataset.load_state_dict(10)
    assert list(loader) == []


@pytest.mark.parametrize("skip", [[(6, 4)], [-1], [(1, 2, 3)], [(0, -1)]])
def test_skips_are_steps(url, skip):
    with pytest.raises(ls.Invalid, match="skip"):
        StreamDataset(url, skip=skip)


@pytest.mark.parametrize("group", [1, 2, 3])
def test_skips_are_as_if_listed(group):
    ranges = [(3, 5), 4, (12, 20), (20, 21), (8, 8), (30, 31), (33, 34)]
    skips = Skips(ranges)
    listed = {step for item in ranges for step in
              (range(*item) if isinstance(item, tuple) else [item])}
    assert skips.ranges == ((3, 5), (12, 21), (30, 31), (33, 34))
    for step in range(40):
        first = step
        while listed & set(range(first, first + group)):
            first += group
        assert skips.first_from(step, group) == first


@pytest.mark.parametrize("keywords, error, said", [
    ({"rank": "0"}, TypeError, "rank: a whole number, not '0'"),
    ({"dp": 1.0}, TypeError, "dp: a whole number, not 1.0"),
    ({"step": 10 ** 30}, ValueError, "step is 10{30};"),
    ({"group": ""}, ValueError, "None is no group"),
    ({"starve_timeout": "5"}, TypeError, "starve_timeout: a number of seconds"),
    ({"starve_timeout": float("inf")}, ValueError, "starve_timeout: inf"),
    ({"starve_timeout": 5, "starve_timeout_ms": 5}, ValueError, "give one"),
])
def test_what_is_wrong_is_named(url, keywords, error, said):
    for kind in (ls.Consumer, StreamDataset):
        with pytest.raises(error, match=said):
            kind(url, **keywords)


def test_states_are_checked_at_once(url):
    for reader in (ls.Consumer(url), StreamDataset(url)):
        for state in (-1, 10 ** 30):
            with pytest.raises(ls.Invalid, match="step is"):
                reader.load_state_dict(state)


@pytest.mark.parametrize("slice", [
    numpy.array([object()]), (ctypes.c_void_p * 2)(),
    numpy.zeros(2, [("P", "i4"), ("x", "O")])])
def test_addresses_are_no_data(url, slice):
    with ls.Producer(url, "p") as producer:
        with pytest.raises(ls.Invalid, match="addresses"):
            producer.append([slice])
        for fine in (numpy.zeros(2, [("O", "i4")]), numpy.zeros(1, "M8[s]")):
            producer.append([fine])


def test_how_slices_were_cut_is_checked(url):
    x = numpy.ones((2, 2))
    with ls.Producer(url, "p") as producer:
        with pytest.raises(ls.Invalid, match="cp_axis is 2, .* 'x'"):
            producer.append([{"x": x}], cp_axis=2)
        with pytest.raises(ls.Unsupported, match="zig"):
            producer.append([{"x": x}], cp_layout="zig")
        producer.append([{"x": x, "n": numpy.int32(1)}], cp_axis=1)


@pytest.mark.parametrize("workers", [0, 1])
def test_a_loader_that_would_make_batches_is_told(url, fill, workers):
    fill(url, 2, lambda step: [{"x": numpy.ones(1)}])
    with pytest.raises(TypeError, match="batch_size=None"):
        next(iter(DataLoader(StreamDataset(url), num_workers=workers)))
