"""What cannot be meant is refused, and not cut to fit."""

import pathlib

import numpy
import pytest

import lakestream as ls
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
