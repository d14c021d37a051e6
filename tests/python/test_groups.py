"""Groups, runs and watermarks; pins, limits, reclaiming and forks."""

import numpy
import pytest

import lakestream as ls


@pytest.fixture
def url(place):
    """Twenty steps for cp 2, with a declared axis."""
    url = place + "/s"
    ls.create(url, dp=1, cp=2)
    with ls.Producer(url, "p") as producer:
        for step in range(20):
            producer.append([{"x": numpy.arange(4) + step}] * 2, cp_axis=0)
    return url


def group_of(url):
    return ls.Stream(url).info()["groups"][0]


def test_a_checkpoint_lets_go_of_what_all_ranks_are_past(url):
    ranks = [ls.Consumer(url, rank, group="train", run="job.1")
             for rank in range(2)]
    for rank in ranks:
        for _ in range(6):
            next(rank)
    ranks[0].checkpointed(6)
    assert ls.Stream(url).reclaim()["first_live_step"] == 0
    ranks[1].checkpointed(6, oldest_kept=4)
    assert group_of(url)["step"] == 4
    assert ls.Stream(url).reclaim()["first_live_step"] == 4
    with pytest.raises(ls.Reclaimed, match="4"):
        ls.Consumer(url, step=0)


def test_a_new_run_fences_the_old_one(url):
    old = ls.Consumer(url, 0, 1, 1, group="train", run="job.1")
    next(old)
    new = ls.Consumer(url, 0, 1, 1, group="train", run="job.2")
    with pytest.raises(ls.Fenced):
        old.checkpointed(1)
    with pytest.raises(ls.Fenced):
        ls.Consumer(url, 0, 1, 1, group="train", run="job.1")
    new.close()


@pytest.mark.parametrize("cp", [1, 2, 4])
def test_watermarks_work_with_every_cp(url, cp):
    with ls.Consumer(url, 0, 1, cp, group="g", run="a.1",
                     watermark="all") as consumer:
        for _ in range(9):
            next(consumer)
        for step in (2, 5, 8):
            consumer.checkpointed(step)
        with pytest.raises(ValueError, match="below"):
            consumer.checkpointed(4)
        with pytest.raises(ValueError, match="watermark"):
            consumer.load_state_dict(3)
    assert group_of(url)["step"] == 8
    assert group_of(url)["ranks"] == cp


@pytest.mark.parametrize("cp", [1, 2])
def test_a_launcher_names_the_run(url, cp, monkeypatch):
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "none")
    if cp == 2:
        with pytest.raises(ValueError, match="no run"):
            ls.Consumer(url, 0, 1, cp, group="g")
    monkeypatch.setenv("SLURM_JOB_ID", "4711")
    monkeypatch.setenv("SLURM_RESTART_COUNT", "3")
    with ls.Consumer(url, 0, 1, cp, group="g"):
        group = group_of(url)
    assert (group["run"], group["attempt"]) == ("4711", 3)


def test_without_a_group_nothing_can_be_checkpointed(url):
    with ls.Consumer(url) as consumer, pytest.raises(ValueError, match="group"):
        consumer.checkpointed(0)


def test_pins_limits_and_evictions(url):
    stream = ls.Stream(url)
    ls.Consumer(url, 0, 1, 1, group="g", run="a.1").checkpointed(0)
    stream.watermark("g", 1, 0, 10)
    stream.pin("release", 3)
    assert stream.reclaim(dry_run=True)["first_live_step"] == 3
    stream.unpin("release")
    with pytest.raises(FileNotFoundError):
        stream.unpin("release")
    assert stream.reclaim()["first_live_step"] == 10
    stream.limit(max_live_steps=50)
    assert stream.info()["limits"]["max_live_steps"] == 50
    stream.evict(group="g")
    assert stream.info()["groups"] == []
    stream.evict(producer="p")
    with pytest.raises(ValueError):
        stream.evict()


def test_a_fork_goes_on_from_its_parents_state(url, place):
    parent = ls.Stream(url)
    with ls.Consumer(url, step=8) as consumer:
        state = consumer.state_dict()
    fork = parent.fork(8, place + "/fork")
    with ls.Producer(place + "/fork", "p") as producer:
        assert producer.next_seq == 8
        producer.append([b"a", b"b"])
    with ls.Consumer(place + "/fork") as consumer:
        consumer.load_state_dict(state)
        assert bytes(memoryview(next(consumer))) == b"a"
        with pytest.raises(ValueError, match="of stream"):
            consumer.load_state_dict({**state, "step": 7})
    assert fork.info()["lineage"][0]["step"] == 8


def test_dropping_ends_it_for_good(url):
    ls.Stream(url).drop()
    with pytest.raises((FileExistsError, ls.Error)):
        ls.create(url)
