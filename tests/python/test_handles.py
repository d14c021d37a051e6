"""Streams, producers and consumers: what they do, refuse and survive."""

import gc
import os
import pickle
import signal
import socket
import threading
import time

import pytest

import lakestream as ls


def later(seconds, function, *arguments):
    timer = threading.Timer(seconds, function, arguments)
    timer.daemon = True
    timer.start()


def interrupt_soon():
    later(0.3, os.kill, os.getpid(), signal.SIGINT)


class Watch:
    def __enter__(self):
        self.begin = time.monotonic()
        return self

    def __exit__(self, *_):
        self.seconds = time.monotonic() - self.begin


def test_what_was_appended_comes_out_in_order(place, fill):
    url = place + "/s"
    ls.create(url, dp=2, cp=1, producers=1)
    fill(url, 5, lambda step: [b"a%d" % step, bytearray(b"b%d" % step)])
    for rank, letter in enumerate("ab"):
        with ls.Consumer(url, rank=rank) as consumer:
            seen = [(b.step, b.next_step, b.meta, bytes(memoryview(b)))
                    for b in consumer]
        assert seen == [(i, i + 1, b"meta %d" % i, f"{letter}{i}".encode())
                        for i in range(5)]


def test_a_producer_knows_where_it_was(url):
    with ls.Producer(url, "p") as producer:
        assert (producer.offset, producer.next_seq) == (None, 0)
        producer.append([b"x"], offset=b"line 1")
    with pytest.raises(RuntimeError), ls.Producer(url, "p") as producer:
        assert (producer.offset, producer.next_seq) == (b"line 1", 1)
        raise RuntimeError("what is not committed is discarded")
    with ls.Producer(url, "p") as producer:
        assert producer.offset == b"line 1"


def test_buffers_of_appends_are_let_go(url):
    class Noted(bytearray):
        alive = 0

        def __init__(self, *arguments):
            super().__init__(*arguments)
            Noted.alive += 1

        def __del__(self):
            Noted.alive -= 1

    with ls.Producer(url, "p") as producer:
        for _ in range(50):
            producer.append([Noted(1000)])
        producer.flush()
    gc.collect()
    assert Noted.alive == 0


def test_a_state_is_a_position_and_nothing_else(place, fill):
    url = place + "/s"
    ls.create(url, dp=2)
    fill(url, 6, lambda step: [b"0", b"1"])
    with ls.Consumer(url, rank=0) as consumer:
        next(consumer), next(consumer)
        state = consumer.state_dict()
        begin = time.perf_counter()
        for _ in range(100):
            consumer.state_dict()
        assert (time.perf_counter() - begin) / 100 < 1e-3
    assert state == {"version": 1, "stream": ls.Stream(url).id, "step": 2}
    with ls.Consumer(url, rank=1) as consumer:
        consumer.load_state_dict(state)
        assert [b.step for b in consumer] == [2, 3, 4, 5]
        consumer.load_state_dict(5)
        assert next(consumer).step == 5
        with pytest.raises(ValueError, match="of stream"):
            consumer.load_state_dict({**state, "stream": "0" * 32})
        with pytest.raises(ValueError, match="not a state"):
            consumer.load_state_dict({"step": 3})


def test_memory_outlives_all_handles(url, fill):
    fill(url, 3, lambda step: [b"%d" % step * 100_000])
    with ls.Consumer(url) as consumer:
        views = [memoryview(batch) for batch in consumer]
    del consumer
    gc.collect()
    for step, view in enumerate(views):
        assert view.readonly
        assert view == b"%d" % step * 100_000


def test_errors_are_what_python_calls_them(url):
    with pytest.raises(FileNotFoundError):
        ls.Stream(url + "/none")
    with pytest.raises(FileExistsError):
        ls.create(url)
    ls.create(url, exist_ok=True)
    with pytest.raises(FileExistsError, match="dp 1 x cp 1"):
        ls.create(url, dp=2, exist_ok=True)
    with pytest.raises(ValueError):
        ls.Producer(url, ".hidden")
    with pytest.raises(ValueError, match="prefetch_bytes"):
        ls.Consumer(url, prefetch_bytes=1)
    with pytest.raises(ValueError, match="rank 1"):
        ls.Consumer(url, rank=1)
    with pytest.raises(ls.Fenced), ls.Producer(url, "p") as producer:
        with pytest.raises(ValueError, match="1 slices"):
            producer.append([b"", b""])
        with pytest.raises(TypeError):
            producer.append(["a text is no buffer"])
        with ls.Producer(url, "p"):
            producer.append([b"x"])
            producer.flush()
    assert all(issubclass(kind, ls.Error) for kind in (
        ls.Fenced, ls.Reclaimed, ls.Ended, ls.Corrupt, ls.Unsupported))
    assert issubclass(ls.Starved, TimeoutError)
    assert issubclass(ls.StoreError, OSError)


def test_nothing_is_appended_after_the_end(url, fill):
    fill(url, 1)
    with pytest.raises(ls.Ended, match="without a producer late"):
        ls.Producer(url, "late")
    with pytest.raises(ls.Ended), ls.Producer(url, "p") as producer:
        producer.append([b"x"])
    with ls.Producer(url, "p") as producer:
        with pytest.raises(ls.Ended):
            producer.append([b"x"])
            producer.flush()
        # Told once; leaving does not raise it again.


def test_reports(url, fill):
    fill(url, 3)
    stream = ls.Stream(url)
    assert stream.info()["next_step"] == 3
    assert [line["step"] for line in stream.log(1)] == [1, 2]
    assert stream.verify(data=True)["ok"]
    assert bytes(memoryview(stream.get(2, 0))) == b"step 2"


def test_starving_says_for_what_and_since_when(url):
    with ls.Consumer(url, starve_timeout=0.4) as consumer, Watch() as watch:
        with pytest.raises(ls.Starved, match=r"waited 0\.[456].*step 0"):
            next(consumer)
    assert 0.4 <= watch.seconds < 1.4


def test_ctrl_c_ends_every_wait(place, url):
    full = place + "/full"
    ls.create(full, max_live_steps=1)

    def read():
        with ls.Consumer(url) as consumer:
            next(consumer)

    def append():
        with ls.Producer(full, "p") as producer:
            for _ in range(3):
                producer.append([b"x"])
            producer.flush()

    def reach_dead_store():
        with socket.socket() as server:
            server.bind(("127.0.0.1", 0))
            server.listen()
            port = server.getsockname()[1]
            ls.Stream("s3://bucket/run", endpoint=f"http://127.0.0.1:{port}",
                      s3_credentials="none")

    for wait in (read, append, reach_dead_store):
        interrupt_soon()
        with Watch() as watch, pytest.raises(KeyboardInterrupt):
            wait()
        assert watch.seconds < 1.3, wait.__name__


def test_a_signal_that_does_not_raise_changes_nothing(url):
    def append():
        with ls.Producer(url, "p") as producer:
            producer.append([b"x"])

    seen = []
    old = signal.signal(signal.SIGUSR1, lambda *_: seen.append(1))
    try:
        with ls.Consumer(url) as consumer:
            later(0.2, os.kill, os.getpid(), signal.SIGUSR1)
            later(0.6, append)
            assert next(consumer).step == 0
    finally:
        signal.signal(signal.SIGUSR1, old)
    assert seen == [1]


def test_closing_ends_a_wait_in_another_thread(url):
    consumer = ls.Consumer(url)
    later(0.2, consumer.close)
    with Watch() as watch, pytest.raises(ls.Cancelled):
        next(consumer)
    assert watch.seconds < 1.2
    consumer.close()
    with pytest.raises(ValueError, match="closed"):
        next(consumer)


def test_waiting_lets_other_threads_run(url):
    counted = []

    def count():
        end = time.monotonic() + 0.5
        while time.monotonic() < end:
            counted.append(1)

    thread = threading.Thread(target=count)
    thread.start()
    with ls.Consumer(url, starve_timeout=0.5) as consumer:
        with pytest.raises(ls.Starved):
            next(consumer)
    thread.join()
    assert len(counted) > 10_000


def test_a_handle_belongs_to_one_thread_at_a_time(url):
    with ls.Consumer(url, starve_timeout=0.5) as consumer:
        errors = []

        def take():
            try:
                next(consumer)
            except ls.Error as error:
                errors.append(str(error))

        threads = [threading.Thread(target=take) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sum("another thread" in error for error in errors) == 1


def test_a_child_may_not_use_its_parents_handles(url, fill):
    fill(url, 2)
    consumer = ls.Consumer(url)
    batch = next(consumer)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            consumer.state_dict()
        except ls.Error as error:
            code = 0 if "fork" in str(error) else 2
        del batch
        consumer.close()
        os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    assert next(consumer).step == 1
    assert bytes(memoryview(batch)) == b"step 0"


def test_handles_pickle_as_their_configuration(url, fill):
    fill(url, 4)
    consumer = ls.Consumer(url, prefetch_bytes="1MiB")
    next(consumer)
    copy = pickle.loads(pickle.dumps(consumer))
    assert [batch.step for batch in copy] == [1, 2, 3]
    assert next(consumer).step == 1
    consumer.close()  # which forgets nothing
    assert [batch.step for batch in pickle.loads(pickle.dumps(consumer))] == [2, 3]
    assert pickle.loads(pickle.dumps(ls.Stream(url))).info()["ended"]


def test_an_unpickled_producer_opens_when_it_is_used(url):
    with ls.Producer(url, "p") as producer:
        copy = pickle.loads(pickle.dumps(producer))
        producer.append([b"not fenced yet"])
        producer.flush()
        assert copy.next_seq == 1
        with pytest.raises(ls.Fenced):
            producer.append([b"x"])
            producer.flush()
        copy.close()
        producer.close()


def test_batches_pickle_with_their_bytes(url, fill):
    fill(url, 1)
    batch = next(ls.Consumer(url))
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        copy = pickle.loads(pickle.dumps(batch, protocol))
        assert (copy.step, copy.next_step, copy.meta) == (0, 1, b"meta 0")
        assert bytes(copy.slices[0]) == b"step 0"


def test_steps_are_cheap(url, fill):
    fill(url, 2000)
    with ls.Consumer(url) as consumer:
        next(consumer)
        time.sleep(0.5)
        begin = time.perf_counter()
        count = sum(1 for _ in range(1000) if next(consumer))
        mean_us = (time.perf_counter() - begin) / count * 1e6
        print(f"next() on prefetched steps: {mean_us:.1f} us")
    assert mean_us < 200  # the figure is measured by a bench; this, a machine
