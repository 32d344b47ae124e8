"""Workers on this machine: processes that are given one item at a time, and die with their driver."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from mixfield import _threads
from mixfield.batch.items import Item, Outcome, Work
from mixfield.batch.perform import perform
from mixfield.batch.threads import limited

ATTEMPTS = 2  # workers that an item may cost before it has failed


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
    ``multiprocessing``.  A worker that is killed is replaced, and its item is tried once more.
    """

    workers: int
    method: str = "spawn"

    def run(self, work: Work, items: Iterable[Item], out: Path) -> Iterator[Outcome]:
        """See `Engine`."""
        untried, again = iter(items), deque[tuple[Item, int]]()
        idle: list[_Worker] = []
        busy: list[_Worker] = []
        outcomes: list[Outcome] = []
        try:
            while True:
                while len(busy) < self.workers and (task := _next(again, untried)) is not None:
                    busy.append(idle.pop() if idle else self._start(work, out))
                    busy[-1].give(*task)
                yield from outcomes  # while the workers are at the next ones
                if not busy:
                    return
                outcomes = []
                for worker in _ready(busy):
                    busy.remove(worker)
                    outcome = worker.take()
                    if outcome is not None:
                        idle.append(worker)
                        outcomes.append(outcome)
                    elif worker.attempt < ATTEMPTS:
                        again.append((worker.item, worker.attempt + 1))
                    else:
                        outcomes.append(worker.epitaph())
        finally:
            for worker in idle + busy:
                worker.end()

    def _start(self, work: Work, out: Path) -> _Worker:
        with limited(max(1, _threads.available() // self.workers)):
            return _Worker(multiprocessing.get_context(self.method), work, out)


class _Worker:
    """The driver's end of a worker process."""

    item: Item
    attempt: int

    def __init__(self, context: Any, work: Work, out: Path) -> None:
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, work, out), daemon=True)
        self._process.start()
        theirs.close()

    def give(self, item: Item, attempt: int) -> None:
        self.item, self.attempt = item, attempt
        try:
            self.connection.send(item)
        except BrokenPipeError:  # it is dead already: `take` will tell
            return

    def take(self) -> Outcome | None:
        """The outcome of the item, None if the worker died over it."""
        try:
            outcome: Outcome = self.connection.recv()
        except (EOFError, ConnectionError):
            self.end()
            return None
        return outcome

    def epitaph(self) -> Outcome:
        """The outcome of an item over which the worker died."""
        code = self._process.exitcode
        how = f"was killed by signal {-code}" if code is not None and code < 0 else f"ended with exit code {code}"
        memory = " (often a sign of too little memory)" if code == -signal.SIGKILL else ""
        return Outcome(self.item.name, failure=f"its worker {how}{memory}, {self.attempt} times")

    def end(self) -> None:
        self.connection.close()
        self._process.join(0.2)  # idle workers leave when nobody is at the other end
        self._process.terminate()
        self._process.join()


def _next(again: deque[tuple[Item, int]], untried: Iterator[Item]) -> tuple[Item, int] | None:
    """The next item and which attempt at it this is."""
    if again:
        return again.popleft()
    item = next(untried, None)
    return None if item is None else (item, 1)


def _ready(workers: list[_Worker]) -> list[_Worker]:
    """Workers who have something to say, at least one."""
    speaking = set(wait([worker.connection for worker in workers]))
    return [worker for worker in workers if worker.connection in speaking]


def _serve(connection: Connection[Outcome, Item], work: Work, out: Path) -> None:
    """The life of a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the driver is told, and ends us
    threading.Thread(target=_die_with_driver, daemon=True).start()
    while True:
        try:
            connection.send(perform(work, connection.recv(), out))
        except (EOFError, ConnectionError):  # nobody is there any more
            return


def _die_with_driver() -> None:
    driver = multiprocessing.parent_process()
    assert driver is not None
    driver.join()
    os._exit(1)
