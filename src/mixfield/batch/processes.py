"""Worker processes on this machine."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
import time
from collections.abc import Generator, Iterable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from mixfield import _threads
from mixfield.batch.interrupts import sigint_blocked
from mixfield.batch.items import Item, Outcome, Work
from mixfield.batch.tasks import ATTEMPTS, TaskResult, WorkerLostError, perform_task, run_tasks
from mixfield.batch.threads import thread_limit
from mixfield.errors import BatchError, MixfieldError

READY = "ready"  # first message of a worker
GUARD = 'a program that starts processes comes from a file and guards its main part by if __name__ == "__main__":'
GRACE_SECONDS = 0.2  # for idle workers to exit by themselves
SIGKILL = 9  # `signal.SIGKILL` does not exist on Windows
NOT_PICKLABLE = (pickle.PicklingError, AttributeError, TypeError)  # what Python raises for objects it cannot pickle

Tasks = SimpleQueue[tuple[Future[Any], list[Item]] | None]


@dataclass(frozen=True)
class Processes:
    """Local worker processes that share the cores.

    Attributes
    ----------
    workers : number of processes; each uses an equal share of the cores for its threads.
    method : start method, ``"spawn"``, ``"forkserver"`` or ``"fork"``.

    Notes
    -----
    A program that uses it guards its main part by ``if __name__ == "__main__":``, as for every use of
    ``multiprocessing``.  A worker that dies is replaced, and its item is tried once more; a worker that cannot start
    ends the run.  Workers exit with their driver, however that ends.
    """

    workers: int
    method: str = "spawn"

    def run(self, work: Work, items: Iterable[Item], out: Path) -> Generator[Outcome]:
        """See `Engine`."""
        todo = list(items)
        threads = max(1, _threads.available() // self.workers)
        pool = ProcessPool(min(self.workers, len(todo)), threads, self.method, work, out)
        try:
            yield from run_tasks(pool, todo)
        finally:
            pool.close()


class ProcessPool:
    """The processes of one run, see `mixfield.batch.tasks.Pool`; a lost process costs one task."""

    shares_workers = False

    def __init__(self, count: int, threads: int, method: str, work: Work, out: Path) -> None:
        self.slots = 2 * count  # the second half waits in the driver for the next idle worker
        self._count, self._threads = count, threads
        self._context, self._work, self._out = multiprocessing.get_context(method), work, out
        self._tasks, self._workers = Tasks(), list[_Worker]()

    def maintain(self) -> None:
        """Start missing workers."""
        for _ in range(self._count - len(self._workers)):
            with thread_limit(self._threads), sigint_blocked():
                self._workers.append(_Worker(self._tasks, self._context, self._work, self._out))

    def submit(self, items: list[Item]) -> Future[Any]:
        future: Future[Any] = Future()
        self._tasks.put((future, items))
        return future

    def result(self, future: Future[Any]) -> TaskResult:
        try:
            result: TaskResult = future.result()
        except _ConnectionLostError as error:
            (worker,) = error.args
            self._workers.remove(worker)
            raise WorkerLostError(worker.failure()) from None
        return result

    def close(self) -> None:
        """End all workers: idle ones exit by themselves, busy ones are terminated."""
        with suppress(Empty):
            while True:
                self._tasks.get_nowait()
        for _ in self._workers:
            self._tasks.put(None)
        deadline = time.monotonic() + GRACE_SECONDS
        for worker in self._workers:
            worker.end(deadline)


class _ConnectionLostError(Exception):
    """A process ended in the middle of a task; the argument is its `_Worker`."""


class _Worker:
    """A worker process, and the thread of the driver that sends it tasks and waits for their results."""

    def __init__(self, tasks: Tasks, context: Any, work: Work, out: Path) -> None:
        self._tasks, self._started = tasks, False
        self._connection, child_end = context.Pipe()
        self._process = context.Process(target=_serve, args=(child_end, work, out), daemon=True)
        try:
            self._process.start()
        except NOT_PICKLABLE as error:
            raise MixfieldError(f"the work cannot be sent to other processes: {error}") from None
        child_end.close()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def failure(self) -> str:
        """Why an item failed whose process died; raises `BatchError` if the process could not even start."""
        self.end(time.monotonic() + GRACE_SECONDS)
        code = self._process.exitcode
        if not self._started and code == 1:  # an exception, not a signal
            raise BatchError(f"workers cannot start: {GUARD}")
        how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        memory = " (often a sign of too little memory)" if code == -SIGKILL else ""
        return f"its worker {how}{memory}, {ATTEMPTS} times"

    def end(self, deadline: float) -> None:
        """Wait for the process until the deadline, then terminate it."""
        self._process.join(max(0.0, deadline - time.monotonic()))
        self._process.terminate()
        self._process.join()
        self._thread.join()

    def _run(self) -> None:
        """The thread: one task after the other, until the queue holds None or the process is lost."""
        for future, items in iter(self._tasks.get, None):
            try:
                future.set_result(self._call(items))
            except (EOFError, OSError):
                future.set_exception(_ConnectionLostError(self))
                break
            except Exception as error:
                future.set_exception(error)
        with suppress(OSError):
            self._connection.send(None)
        self._connection.close()

    def _call(self, items: list[Item]) -> TaskResult:
        self._started = self._started or self._connection.recv() == READY
        self._connection.send([_pickled(item) for item in items])
        result: TaskResult = self._connection.recv()
        return result


def _pickled(item: Item) -> bytes:
    """One by one, so that an error names its item."""
    try:
        return pickle.dumps(item)
    except NOT_PICKLABLE as error:
        raise MixfieldError(f"item {item.name!r} cannot be sent to other processes: {error}") from None


def _serve(connection: Connection[TaskResult | str, list[bytes] | None], work: Work, out: Path) -> None:
    """The worker process: one task after the other, until the driver sends None."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is handled by the driver, which ends its workers
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    with suppress(EOFError, ConnectionError):  # the driver has ended, or ends this worker
        connection.send(READY)
        while (items := connection.recv()) is not None:
            connection.send(perform_task([pickle.loads(item) for item in items], work, out))


def _exit_with_parent() -> None:
    """Exit in the middle of a task when the driver has ended, so that no two runs write to one folder."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(0)
