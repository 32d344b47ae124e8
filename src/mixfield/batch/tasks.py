"""The engine of all workers: items are submitted in tasks, and their futures are those of `concurrent.futures`.

A task is one slow item or several quick ones, because each task costs a round trip to a worker.  A task whose worker is
lost is split: each of its items is submitted again as an isolated task, and one that loses its worker again has failed.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from mixfield.batch.items import Item, Outcome, Work
from mixfield.batch.perform import perform

ATTEMPTS = 2  # an item in a task, then isolated
MAX_ITEMS = 100  # per task
TASK_SECONDS = 0.2  # aimed at by a task of several items
POLL_SECONDS = 0.5  # a wait without a timeout could not be interrupted on Windows


class WorkerLostError(Exception):
    """A task did not return.  The message is the failure of an isolated item."""


@dataclass(frozen=True)
class Task:
    """Items for one worker; a lost isolated task is the failure of its item."""

    items: list[Item]
    isolated: bool = False


@dataclass(frozen=True)
class TaskResult:
    """Outcomes of the first items of a task, at least one, and the seconds they took."""

    outcomes: list[Outcome]
    seconds: float


class Pool(Protocol):
    """The workers of one run.

    Attributes
    ----------
    slots : number of tasks to keep submitted.
    shares_workers : True if a worker may hold several tasks, which are lost together.
    """

    @property
    def slots(self) -> int: ...

    @property
    def shares_workers(self) -> bool: ...

    def maintain(self) -> None:
        """Called before tasks are submitted, at least every `POLL_SECONDS`: replace lost workers, or raise."""

    def submit(self, items: list[Item]) -> Future[Any]:
        """Submit `perform_task` on these items."""

    def result(self, future: Future[Any]) -> TaskResult:
        """The result of a completed future; raises `WorkerLostError` if there is none."""


def run_tasks(pool: Pool, items: Iterable[Item]) -> Generator[Outcome]:
    """Yield the outcome of each item as it completes."""
    queue, running = TaskQueue(items), dict[Future[Any], Task]()
    outcomes: list[Outcome] = []
    while True:
        pool.maintain()
        _submit(pool, queue, running)
        yield from outcomes  # after the submission: workers stay busy while the caller handles them
        if not running:
            return
        done, _ = wait(running, POLL_SECONDS, FIRST_COMPLETED)
        completed = [future for future in running if future in done]  # in the order of submission
        outcomes = [outcome for future in completed for outcome in _outcomes(pool, queue, running.pop(future), future)]


def perform_task(items: list[Item], work: Work, out: Path) -> TaskResult:
    """In a worker: the first items of a task, until `TASK_SECONDS` have passed."""
    started, outcomes = time.monotonic(), list[Outcome]()
    for item in items:
        outcomes.append(perform(work, item, out))
        if time.monotonic() - started > TASK_SECONDS or outcomes[-1].fatal:
            break
    return TaskResult(outcomes, time.monotonic() - started)


class TaskQueue:
    """Items that are not submitted yet."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._items, self._isolated, self._size = deque(items), deque[Item](), 1

    @property
    def has_isolated(self) -> bool:
        return bool(self._isolated)

    def next(self) -> Task | None:
        """The next task, isolated items first; None if the queue is empty."""
        if self._isolated:
            return Task([self._isolated.popleft()], isolated=True)
        items = [self._items.popleft() for _ in range(min(self._size, len(self._items)))]
        return Task(items) if items else None

    def finish(self, task: Task, result: TaskResult) -> list[Outcome]:
        """Outcomes of a task.  The other items of the task return to the queue; the next tasks have a size that takes
        `TASK_SECONDS` at the speed of this one."""
        count = len(result.outcomes)
        self._items.extendleft(reversed(task.items[count:]))
        self._size = max(1, min(MAX_ITEMS, int(count * TASK_SECONDS / max(result.seconds, 1e-9))))
        return result.outcomes

    def lose(self, task: Task, reason: str) -> list[Outcome]:
        """A task without a result: the failure of an isolated item; other items are to be submitted isolated."""
        if task.isolated:
            return [Outcome(task.items[0].name, failure=reason)]
        self._isolated += task.items
        return []


def _submit(pool: Pool, queue: TaskQueue, running: dict[Future[Any], Task]) -> None:
    """Fill the slots of a pool.  Where workers are shared, an isolated task runs alone, so that its loss is its own."""
    isolated = queue.has_isolated or any(task.isolated for task in running.values())
    slots = 1 if isolated and pool.shares_workers else pool.slots
    while len(running) < slots and (task := queue.next()) is not None:
        running[pool.submit(task.items)] = task


def _outcomes(pool: Pool, queue: TaskQueue, task: Task, future: Future[Any]) -> list[Outcome]:
    try:
        return queue.finish(task, pool.result(future))
    except WorkerLostError as error:
        return queue.lose(task, str(error))
