"""Workers on this machine: processes that do one item at a time, and die with their driver."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from mixfield import _threads
from mixfield.batch.interrupts import deaf
from mixfield.batch.items import Item, Outcome, Work
from mixfield.batch.perform import perform
from mixfield.batch.threads import limited
from mixfield.errors import BatchError, MixfieldError

ATTEMPTS = 2  # workers that an item may cost before it has failed
HERE = "here"  # the first word of a worker
GUARD = 'a program that starts processes comes from a file and guards its main part by if __name__ == "__main__":'
QUICK = 0.05  # seconds; a worker at quick items holds the next one too, and never waits for its driver
UNSENDABLE = (pickle.PicklingError, AttributeError, TypeError)  # what Python says of things it cannot pickle

Task = tuple[Item, int]  # an item, and which attempt at it this is


@dataclass(frozen=True)
class Processes:
    """Local worker processes, which share the cores.

    Attributes
    ----------
    workers : how many; each gets an equal part of the cores for its threads.
    method : how they are started, ``"spawn"``, ``"forkserver"`` or ``"fork"``.

    Notes
    -----
    A program that uses it guards its main part by ``if __name__ == "__main__":``, as for every process started by
    ``multiprocessing``.  A worker that is killed is replaced, and its item is tried once more; one that cannot even
    start ends the run.
    """

    workers: int
    method: str = "spawn"

    def run(self, work: Work, items: Iterable[Item], out: Path) -> Iterator[Outcome]:
        """See `Engine`."""
        tasks = _Tasks(items)
        workers: list[_Worker] = []
        outcomes: list[Outcome] = []
        try:
            while True:
                self._hand_out(tasks, workers, lambda: self._start(work, out))
                yield from outcomes  # while the workers are at the next ones
                busy = [worker for worker in workers if worker.tasks]
                if not busy:
                    return
                outcomes = []
                for worker in _ready(busy):
                    outcome = worker.take()
                    if outcome is None:
                        workers.remove(worker)
                        outcome = tasks.take_back(worker)
                    outcomes += [] if outcome is None else [outcome]
        finally:
            for worker in workers:
                worker.end()

    def _hand_out(self, tasks: _Tasks, workers: list[_Worker], start: Callable[[], _Worker]) -> None:
        """Let no worker be idle, then give those at quick items the next one."""
        for held in (0, 1):
            for worker in workers:
                if worker.wants(held) and (task := tasks.next()) is not None:
                    worker.give(task)
            while len(workers) < self.workers and (task := tasks.next()) is not None:
                workers.append(start())
                workers[-1].give(task)

    def _start(self, work: Work, out: Path) -> _Worker:
        with limited(max(1, _threads.available() // self.workers)), deaf():
            try:
                return _Worker(multiprocessing.get_context(self.method), work, out)
            except UNSENDABLE as error:
                raise MixfieldError(f"the work cannot be sent to other processes: {error}") from None


class _Tasks:
    """Items to do, those of dead workers first."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._untried, self._again = iter(items), deque[Task]()

    def next(self) -> Task | None:
        if self._again:
            return self._again.popleft()
        item = next(self._untried, None)
        return None if item is None else (item, 1)

    def take_back(self, worker: _Worker) -> Outcome | None:
        """What a dead worker held; the outcome of the item over which it died, unless it is tried again."""
        (item, attempt), *untouched = worker.tasks
        self._again += untouched
        if attempt == ATTEMPTS:
            return worker.epitaph()
        self._again.append((item, attempt + 1))
        return None


class _Worker:
    """The driver's end of a worker process; the first of ``tasks`` is the one it is at."""

    def __init__(self, context: Any, work: Work, out: Path) -> None:
        self.tasks = deque[Task]()
        self._quick, self._began, self._started = False, 0.0, False
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, work, out), daemon=True)
        self._process.start()
        theirs.close()

    def wants(self, held: int) -> bool:
        """Whether a worker with so many tasks should get another."""
        return len(self.tasks) == held and (held == 0 or self._quick)

    def give(self, task: Task) -> None:
        if not self.tasks:
            self._began = time.monotonic()
        self.tasks.append(task)
        try:
            self.connection.send(task[0])
        except ConnectionError:
            pass  # it is dead already: `take` will tell
        except UNSENDABLE as error:
            raise MixfieldError(f"item {task[0].name!r} cannot be sent to other processes: {error}") from None

    def tells(self) -> bool:
        """Whether what it says, if anything, is more than that it has started."""
        if self._started:
            return True
        try:
            self._started = self.connection.recv() == HERE
        except (EOFError, ConnectionError):
            return True
        return False

    def take(self) -> Outcome | None:
        """The outcome of the first task, None if the worker died over it."""
        try:
            outcome: Outcome = self.connection.recv()
        except (EOFError, ConnectionError):
            self.end()
            if not self._started and self._process.exitcode == 1:  # by an exception, not by a signal
                raise BatchError(f"workers cannot start: {GUARD}") from None
            return None
        self.tasks.popleft()
        now = time.monotonic()
        self._quick, self._began = now - self._began < QUICK, now
        return outcome

    def epitaph(self) -> Outcome:
        """The outcome of an item over which the worker died."""
        (item, attempt), code = self.tasks[0], self._process.exitcode
        how = f"was killed by signal {-code}" if code is not None and code < 0 else f"ended with exit code {code}"
        memory = " (often a sign of too little memory)" if code == -signal.SIGKILL else ""
        return Outcome(item.name, failure=f"its worker {how}{memory}, {attempt} times")

    def end(self) -> None:
        self.connection.close()
        self._process.join(0.2)  # idle workers leave when nobody is at the other end
        self._process.terminate()
        self._process.join()


def _ready(workers: list[_Worker]) -> list[_Worker]:
    """Workers who have something to say."""
    speaking = set(wait([worker.connection for worker in workers]))
    return [worker for worker in workers if worker.connection in speaking and worker.tells()]


def _serve(connection: Connection[Outcome | str, Item], work: Work, out: Path) -> None:
    """The life of a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the driver is told, and ends us
    given = SimpleQueue[Item | Exception]()
    threading.Thread(target=_listen, args=(connection, given, os.getppid()), daemon=True).start()
    with suppress(ConnectionError):
        connection.send(HERE)
    while True:
        item = given.get()
        if isinstance(item, Exception):
            raise item
        outcome = perform(work, item, out)
        with suppress(ConnectionError):  # `_listen` ends us
            connection.send(outcome)


def _listen(connection: Connection[Outcome | str, Item], given: SimpleQueue[Item | Exception], parent: int) -> None:
    """Take what the driver gives, also during the work, so that it need not wait; without a driver there is no work.

    The end of a pipe does not always tell: workers that were forked hold the driver's ends of each other's pipes.
    """
    while True:
        try:
            while not connection.poll(1.0):
                if os.getppid() != parent:
                    os._exit(0)
            given.put(connection.recv())
        except (EOFError, ConnectionError):
            os._exit(0)
        except Exception as error:  # an item that cannot be unpickled here
            given.put(error)
