"""Dicts of arrays in slices: against the safetensors package, and re-cut for
other values of cp."""

import numpy
import pytest
import safetensors.numpy
import torch

import lakestream as ls
from lakestream import arrays, payload

NUMPY_TYPES = ["bool", "uint8", "int8", "uint16", "int16", "float16", "uint32",
               "int32", "float32", "uint64", "int64", "float64", "complex64"]


def samples(shape):
    count = int(numpy.prod(shape))
    return {name: (numpy.arange(count) % 2).astype(name).reshape(shape)
            for name in NUMPY_TYPES}


def equal(one, other):
    return (one.dtype == other.dtype and one.shape == other.shape
            and one.tobytes() == other.tobytes())


@pytest.mark.parametrize("shape", [(3, 5), (7,), (), (0,), (2, 0, 3)])
def test_numpy_arrays_come_back_as_they_were(shape):
    given = samples(shape)
    blob = payload.encode(given)
    taken = payload.assemble([blob])
    assert taken.keys() == given.keys()
    assert all(equal(taken[name], given[name]) for name in given)


@pytest.mark.parametrize("shape", [(3, 5), (), (0,)])
def test_the_safetensors_package_reads_ours_and_we_read_its(shape):
    given = {name: array for name, array in samples(shape).items()
             if name != "complex64"}
    blob = payload.encode(given, cp_axis=0 if shape else None)
    theirs = safetensors.numpy.load(bytes(blob))
    assert all(equal(theirs[name], given[name]) for name in given)
    ours = payload.assemble([safetensors.numpy.save(given)])
    assert all(equal(ours[name], given[name]) for name in given)


def torch_types():
    for name in arrays.NUMPY.values():
        if hasattr(torch, name):
            yield name


@pytest.mark.parametrize("name", list(torch_types()))
@pytest.mark.parametrize("shape", [(4, 3), (), (0, 2)])
def test_torch_tensors_come_back_as_they_were(name, shape):
    dtype = getattr(torch, name)
    given = torch.ones(shape).to(dtype)
    taken = payload.assemble([payload.encode({"x": given})], "torch")["x"]
    assert taken.dtype == dtype and taken.shape == given.shape
    if given.numel() > 0:
        assert torch.equal(taken.reshape(-1).view(torch.uint8),
                           given.reshape(-1).view(torch.uint8))


def test_unsigned_types_that_torch_lacks_are_widened():
    given = {"x": numpy.array([0, 65535], "uint16"),
             "y": numpy.array([[0, 2 ** 32 - 1]], "uint32")}
    taken = payload.assemble([payload.encode(given)], "torch")
    assert taken["x"].tolist() == [0, 65535]
    assert taken["y"].tolist() == [[0, 2 ** 32 - 1]]


def test_what_numpy_lacks_is_refused_by_name():
    blob = payload.encode({"x": torch.ones(3, dtype=torch.bfloat16)})
    try:
        import ml_dtypes
    except ImportError:
        with pytest.raises(ls.Unsupported, match="'x' is BF16"):
            payload.assemble([blob])
    else:
        assert payload.assemble([blob])["x"].dtype == ml_dtypes.bfloat16


def test_reading_copies_nothing(url, fill):
    fill(url, 1, lambda step: [{"x": numpy.arange(1000.)}])
    batch = next(ls.Consumer(url))
    view = numpy.frombuffer(memoryview(batch), "uint8")
    array = batch.tensors()["x"]
    tensor = batch.tensors("torch")["x"]
    begin, end = view.ctypes.data, view.ctypes.data + view.nbytes
    assert begin <= array.ctypes.data < end
    assert tensor.data_ptr() == array.ctypes.data
    assert array.ctypes.data % 64 == 0
    assert not array.flags.writeable
    del batch, view
    assert array.sum() == tensor.sum() == 499500


@pytest.mark.parametrize("blob, what", [
    (b"", "0 bytes"), (b"text that is none", "header"),
    (b"\2\0\0\0\0\0\0\0[]", "no object"),
    (b"\5\0\0\0\0\0\0\0{nix}", "no JSON"),
    (b'\x39\0\0\0\0\0\0\0{"x":{"dtype":"U8","shape":[9],"data_offsets":[0,9]}}'
     b"    123", "beyond its end"),
    (b'\x39\0\0\0\0\0\0\0{"x":{"dtype":"U8","shape":[9],"data_offsets":[0,3]}}'
     b"    123", "3 bytes for its shape"),
])
def test_what_is_no_blob_is_refused(blob, what):
    with pytest.raises(ValueError, match=what):
        payload.assemble([blob])


# ------------------------------------------------------------- other meshes --

WIDTH = 16


def cut(rows, cp, layout):
    """The columns of rank c of cp, as `pack` cuts them."""
    if layout == "contiguous":
        return numpy.split(rows, cp, axis=1)
    chunks = numpy.split(rows, 2 * cp, axis=1)
    return [numpy.concatenate([chunks[c], chunks[-1 - c]], axis=1)
            for c in range(cp)]


def rows_of(step, d):
    first = 1000 * step + 100 * d
    return numpy.arange(first, first + WIDTH, dtype="int32").reshape(1, WIDTH)


def make_stream(url, fill, dp, cp, layout, steps=4):
    ls.create(url, dp=dp, cp=cp)
    fill(url, steps, lambda step: [
        {"tokens": part, "scale": numpy.float32(step)}
        for d in range(dp) for part in cut(rows_of(step, d), cp, layout)],
        cp_axis=1, cp_layout=layout)


@pytest.mark.parametrize("layout", ["contiguous", "zigzag"])
@pytest.mark.parametrize("cp", [1, 2, 4])
@pytest.mark.parametrize("dp", [1, 2, 4])
def test_every_mesh_reads_the_same_rows(place, fill, dp, cp, layout):
    url = place + "/s"
    make_stream(url, fill, 2, 2, layout)
    group = max(1, dp // 2)
    for d in range(dp):
        for c in range(cp):
            with ls.Consumer(url, d * cp + c, dp, cp) as consumer:
                batches = list(consumer)
            assert [b.step for b in batches] == list(range(0, 4, group))
            for batch in batches:
                step = batch.step + d // 2 if dp == 4 else batch.step
                lines = [0, 1] if dp == 1 else [d % 2]
                wanted = numpy.concatenate([rows_of(step, i) for i in lines])
                taken = batch.tensors()
                assert equal(taken["tokens"], cut(wanted, cp, layout)[c])
                assert (taken["scale"] == step).all()
                assert batch.next_step == batch.step + group
                assert batch.tensors(row=0)["tokens"].shape[0] == 1


def test_raw_slices_refuse_another_cp(place, fill):
    url = place + "/s"
    ls.create(url, dp=1, cp=2)
    fill(url, 1, lambda step: [b"raw", b"raw"])
    for rank, cp in ((0, 1), (3, 4)):
        batch = next(ls.Consumer(url, rank, 1, cp))
        with pytest.raises(ls.Unsupported, match="raw slices"):
            batch.slices
    with pytest.raises(ValueError, match="divide"):
        ls.Consumer(url, 0, 1, 3)


def test_an_undeclared_axis_is_not_guessed(place, fill):
    url = place + "/s"
    ls.create(url, dp=1, cp=2)
    fill(url, 1, lambda step: [{"x": numpy.zeros((2, 2))}] * 2)
    with pytest.raises(ls.Unsupported, match="declares no axis"):
        next(ls.Consumer(url, 0, 1, 1)).tensors()


def test_types_are_not_mixed(place):
    url = place + "/mixed"
    ls.create(url, dp=2)
    with ls.Producer(url, "p") as producer:
        producer.append([{"x": numpy.ones(2, "int32")},
                         {"x": numpy.ones(2, "float32")}])
    batch = next(ls.Consumer(url, dp=1))
    for framework in ("numpy", "torch"):
        with pytest.raises(ls.Unsupported, match="'x' is F32 and I32"):
            batch.tensors(framework)
        assert len(batch.tensors(framework, row=1)["x"]) == 2
