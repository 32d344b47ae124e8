"""Tasks: their sizes, lost ones, and the loop over a pool without workers."""

from __future__ import annotations

from concurrent.futures import Future

import pytest

from mixfield.batch import Item, Outcome
from mixfield.batch import tasks as module
from mixfield.batch.tasks import Task, TaskQueue, TaskResult, WorkerLostError, perform_task, run_tasks


def items(count):
    return [Item(str(k), k) for k in range(count)]


def names(task):
    return [item.name for item in task.items]


def test_slow_items_alone_and_quick_ones_together():
    queue = TaskQueue(items(30))
    first = queue.next()
    assert names(first) == ["0"]
    quick = TaskResult([Outcome("0")], 0.02)
    assert queue.finish(first, quick) == quick.outcomes
    second = queue.next()
    assert names(second) == [str(k) for k in range(1, 11)]
    slow = TaskResult([Outcome("1"), Outcome("2")], 1.0)
    assert queue.finish(second, slow) == slow.outcomes
    assert names(queue.next()) == ["3"]  # what the task did not reach comes first


def test_a_task_has_at_most_a_hundred_items():
    queue = TaskQueue(items(500))
    first = queue.next()
    queue.finish(first, TaskResult([Outcome("0")], 1e-9))
    assert len(queue.next().items) == 100


def test_lost_items_are_isolated_and_fail_alone():
    queue = TaskQueue(items(5)[3:])
    assert queue.lose(Task(items(3)), "its worker was lost") == []
    assert queue.has_isolated
    found = [queue.next() for _ in range(4)]
    assert [(names(task), task.isolated) for task in found] == [
        (["0"], True),
        (["1"], True),
        (["2"], True),
        (["3"], False),
    ]
    assert not queue.has_isolated
    (failed,) = queue.lose(found[0], "its worker was lost")
    assert (failed.name, failed.failure) == ("0", "its worker was lost")


def test_an_empty_queue():
    assert TaskQueue([]).next() is None


def test_a_task_ends_after_its_time(monkeypatch, tmp_path):
    monkeypatch.setattr(module, "perform", lambda _work, item, _out: Outcome(item.name, fatal=item.name == "7"))
    clock = iter(k / 10 for k in range(100))
    monkeypatch.setattr(module.time, "monotonic", lambda: next(clock))
    result = perform_task(items(20), None, tmp_path)
    assert [outcome.name for outcome in result.outcomes] == ["0", "1", "2"]
    assert result.seconds == pytest.approx(0.4)
    monkeypatch.setattr(module.time, "monotonic", lambda: 0.0)
    assert len(perform_task(items(20), None, tmp_path).outcomes) == 8  # a fatal outcome ends it too


class FakePool:
    """Tasks complete when the loop waits; those with a deadly item are lost, with all others that are running."""

    def __init__(self, deadly=(), slots=3, shares_workers=True):
        self.slots, self.shares_workers, self.deadly = slots, shares_workers, set(deadly)
        self.open, self.running, self.maintained = {}, [], 0

    def maintain(self):
        self.maintained += 1

    def submit(self, some):
        future = Future()
        self.open[future] = [item.name for item in some]
        self.running.append(len(self.open))
        return future

    def result(self, future):
        return future.result()

    def wait(self, futures, _timeout, _when):
        lost = self.deadly & {name for some in self.open.values() for name in some}
        for future, some in self.open.items():
            if lost and (self.shares_workers or self.deadly & set(some)):
                future.set_exception(WorkerLostError("its worker was lost"))
            else:
                future.set_result(TaskResult([Outcome(name) for name in some], 0.1))
        self.open.clear()
        return set(futures), set()


@pytest.mark.parametrize("shares_workers", [True, False])
def test_only_deadly_items_fail(monkeypatch, shares_workers):
    pool = FakePool({"3", "8"}, shares_workers=shares_workers)
    monkeypatch.setattr(module, "wait", pool.wait)
    outcomes = {outcome.name: outcome.failure for outcome in run_tasks(pool, items(12))}
    assert len(outcomes) == 12
    assert {name for name, failure in outcomes.items() if failure} == {"3", "8"}
    assert max(pool.running) == 3


def test_isolated_tasks_run_alone_where_workers_are_shared(monkeypatch):
    pool = FakePool({"0"}, slots=4)
    monkeypatch.setattr(module, "wait", pool.wait)
    outcomes = run_tasks(pool, items(4))
    first = next(outcomes)
    assert first.failure == "its worker was lost"
    assert [outcome.name for outcome in outcomes] == ["1", "2", "3"]
    assert pool.running == [1, 2, 3, 4, 1, 1, 1, 1]
    assert pool.maintained >= 5  # before each of the isolated tasks


def test_workers_get_the_next_task_before_outcomes_are_yielded(monkeypatch):
    pool = FakePool(slots=1)
    monkeypatch.setattr(module, "wait", pool.wait)
    outcomes = run_tasks(pool, items(3))
    next(outcomes)
    assert len(pool.open) == 1
