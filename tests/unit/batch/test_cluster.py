"""Futures of Dask as those of `concurrent.futures`, with a client that a test controls.  Clusters: tests/faults."""

from __future__ import annotations

from concurrent.futures import CancelledError
from types import SimpleNamespace

import pytest

from mixfield import batch
from mixfield.batch import cluster
from mixfield.batch.cluster import DaskPool
from mixfield.batch.tasks import TaskResult, WorkerLostError
from mixfield.errors import BatchError


class FakeTask:
    def __init__(self):
        self.status, self.callbacks, self.value, self.error = "pending", [], None, None

    def add_done_callback(self, callback):
        self.callbacks.append(callback)

    def complete(self, status, value=None, error=None):
        self.status, self.value, self.error = status, value, error
        self.callbacks.pop(0)(self)

    def exception(self):
        return self.error

    def result(self, timeout):
        assert timeout > 0
        if self.error is not None:
            raise self.error
        return self.value


class FakeClient:
    def __init__(self):
        self.status, self.tasks, self.threads = "running", [], {"a": 1, "b": 2}

    def submit(self, *_arguments, pure):
        assert not pure  # equal arguments are different tasks
        self.tasks.append(FakeTask())
        return self.tasks[-1]

    def nthreads(self, *, callback_timeout):
        assert 0 < callback_timeout < 100
        if isinstance(self.threads, OSError):
            raise self.threads
        return self.threads


@pytest.fixture
def client():
    return FakeClient()


@pytest.fixture
def pool(client, tmp_path):
    return DaskPool(client, print, tmp_path, "tcp://host:1")


def test_a_result(client, pool):
    future = pool.submit([batch.Item("a", 1)])
    assert not future.done()
    result = TaskResult([batch.Outcome("a")], 0.1)
    client.tasks[-1].complete("finished", result)
    assert pool.result(future) is result


def test_a_task_that_dask_repeats_is_not_complete(client, pool):
    future = pool.submit([batch.Item("a", 1)])
    client.tasks[-1].complete("lost")
    assert not future.done()
    client.tasks[-1].complete("finished", TaskResult([], 0.0))
    assert future.done()


@pytest.mark.parametrize("status", ["error", "finished"])
def test_lost_workers(client, pool, status):
    """Also after a result was announced that was lost with its worker."""
    scheduler = pytest.importorskip("distributed.scheduler")
    for error, reason in {
        scheduler.KilledWorker("t", "w", 3): "its worker was lost 4 times",
        ValueError("no such class"): "unexpected ValueError: no such class",
    }.items():
        future = pool.submit([batch.Item("a", 1)])
        client.tasks[-1].complete(status, error=error)
        with pytest.raises(WorkerLostError, match=reason):
            pool.result(future)


@pytest.mark.parametrize("error", [CancelledError(), OSError("closed")])
def test_a_result_that_went_with_the_scheduler(client, pool, error):
    future = pool.submit([batch.Item("a", 1)])
    client.tasks[-1].complete("finished", error=error)
    with pytest.raises(BatchError, match="the Dask scheduler at tcp://host:1 has gone"):
        pool.result(future)


def test_slots_follow_the_number_of_workers(client, pool, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(cluster, "time", SimpleNamespace(monotonic=lambda: now[0]))
    pool.maintain()
    assert pool.slots == 9
    client.threads = {"a": 1}
    now[0] = 1.0
    pool.maintain()
    assert pool.slots == 9
    now[0] = 6.0
    pool.maintain()
    assert pool.slots == 3
    client.threads = {}
    now[0] = 12.0
    pool.maintain()
    assert pool.slots == 1


def test_all_workers_are_lost(client, pool, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(cluster, "time", SimpleNamespace(monotonic=lambda: now[0]))
    pool.maintain()
    client.threads = {}
    for seconds in (100.0, 129.0):  # a pause of the caller is not a time without workers
        now[0] = seconds
        pool.maintain()
    client.threads = {"a": 1}
    now[0] = 140.0
    pool.maintain()
    client.threads = {}
    for seconds in (150.0, 160.0, 179.0):
        now[0] = seconds
        pool.maintain()
    now[0] = 185.0
    with pytest.raises(BatchError, match="at tcp://host:1 has had no workers for 35 s; finished results are kept"):
        pool.maintain()


@pytest.mark.parametrize("error", [OSError("gone"), TimeoutError("no answer")])
def test_without_a_scheduler(client, pool, error):
    client.threads = error
    with pytest.raises(BatchError, match="has gone; finished results are kept"):
        pool.maintain()
    client.status = "connecting"
    with pytest.raises(BatchError, match="has gone; finished results are kept"):
        pool.maintain()
