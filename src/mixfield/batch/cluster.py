"""Workers of a Dask cluster, on this machine or on many machines that see the same folders."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from mixfield import _threads
from mixfield.batch.dask_client import connected, local_cluster
from mixfield.batch.items import Item, Outcome, Work
from mixfield.batch.tasks import TaskResult, WorkerLostError, perform_task, run_tasks
from mixfield.batch.threads import thread_limit
from mixfield.errors import BatchError

PATIENCE = 30.0  # seconds to wait for a scheduler, for its first worker, and for another one when all are lost
TASKS_PER_THREAD = 3  # submitted at a time, so that workers do not wait for the scheduler
RECOUNT_SECONDS = 5.0  # workers may join and leave during a run


@dataclass(frozen=True)
class Dask:
    """Workers of a Dask cluster.

    Attributes
    ----------
    scheduler : address such as ``tcp://host:8786``; None starts a cluster on this machine.
    workers : number of workers to start on this machine; None for one per core.
    patience : seconds to wait for a scheduler, for its first worker, and for another one when all are lost.

    Notes
    -----
    A worker runs one item at a time, with the number of threads that Dask gives it.  Dask restarts a task whose worker
    was lost three times.  A cluster started here runs without Dask's profiler and memory limit; for other clusters
    ``distributed.worker.profile.enabled: False`` and no ``MALLOC_TRIM_THRESHOLD_`` make items faster.
    """

    scheduler: str | None = None
    workers: int | None = None
    patience: float = PATIENCE

    def run(self, work: Work, items: Iterable[Item], out: Path) -> Generator[Outcome]:
        """See `Engine`."""
        with self._client() as client:
            yield from run_tasks(DaskPool(client, work, out, self.scheduler, self.patience), items)

    @contextmanager
    def _client(self) -> Iterator[Any]:
        """A client of the given scheduler, or of a cluster for this run."""
        if self.scheduler is not None:
            with connected(self.scheduler, self.patience) as client:
                yield client
            return
        workers = self.workers or _threads.available()
        with (
            thread_limit(max(1, _threads.available() // workers)),
            local_cluster(workers) as address,
            connected(address, self.patience) as client,
        ):
            yield client


class DaskPool:
    """The workers that a scheduler has, see `mixfield.batch.tasks.Pool`; a lost worker takes all its tasks with it.

    Results are futures of `concurrent.futures` that hold the completed future of Dask.  `Client.get_executor` is not
    used: its futures never complete if a finished result is lost with its worker and Dask gives up computing it again.
    """

    shares_workers = True

    def __init__(
        self, client: Any, work: Work, out: Path, scheduler: str | None = None, patience: float = PATIENCE
    ) -> None:
        self.slots, self._counted = 1, float("-inf")
        self._client, self._out, self._scheduler, self._patience = client, out, scheduler, patience
        self._without_workers: float | None = None  # time when all workers were first found lost
        # a task and not scattered data: Dask computes it again when the worker that holds it is lost
        self._work = client.submit(_identity, work, pure=False)

    def maintain(self) -> None:
        """Count the threads of all workers from time to time; raises `BatchError` without a scheduler or workers."""
        if self._client.status != "running":
            raise self._gone()
        now = time.monotonic()
        if now > self._counted + RECOUNT_SECONDS:
            threads = self._count_threads()
            self._counted, self.slots = now, max(1, TASKS_PER_THREAD * threads)
            self._check_workers(threads, now)

    def _count_threads(self) -> int:
        try:
            return sum(self._client.nthreads(callback_timeout=self._patience).values())
        except OSError:
            raise self._gone() from None

    def _check_workers(self, threads: int, now: float) -> None:
        if threads:
            self._without_workers = None
        elif self._without_workers is None:
            self._without_workers = now
        elif now - self._without_workers > self._patience:
            raise BatchError(
                f"{self._scheduler_name()} has had no workers for {now - self._without_workers:.0f} s; "
                "finished results are kept: start workers and run the same command again"
            )

    def submit(self, items: list[Item]) -> Future[Any]:
        future: Future[Any] = Future()
        task = self._client.submit(_perform_on_worker, items, self._work, self._out, pure=False)
        task.add_done_callback(partial(_complete, future))
        return future

    def result(self, future: Future[Any]) -> TaskResult:
        task = future.result()
        while True:
            if task.status == "error":
                raise _lost(task.exception())
            try:
                result: TaskResult = task.result(timeout=RECOUNT_SECONDS)
            except TimeoutError:  # the result was lost with its worker: Dask repeats the task once it has a worker
                self.maintain()
            except (CancelledError, OSError):
                raise self._gone() from None
            except Exception as error:  # the result was lost, and so were the workers that repeated it
                raise _lost(error) from None
            else:
                return result

    def _scheduler_name(self) -> str:
        return "the Dask scheduler" + (f" at {self._scheduler}" if self._scheduler else "")

    def _gone(self) -> BatchError:
        return BatchError(
            f"{self._scheduler_name()} has gone; finished results are kept: start it and run the same command again"
        )


def _lost(error: Exception) -> WorkerLostError:
    from distributed.scheduler import KilledWorker

    if isinstance(error, KilledWorker):
        return WorkerLostError(f"its worker was lost {error.allowed_failures + 1} times")
    return WorkerLostError(f"unexpected {type(error).__name__}: {error}")  # not pickled, or not unpickled


def _complete(future: Future[Any], task: Any) -> None:
    """Callback of a Dask future: pass it on, unless its worker was lost and Dask computes it again."""
    if task.status in ("lost", "pending"):
        task.add_done_callback(partial(_complete, future))
    else:
        future.set_result(task)


def _identity(work: Work) -> Work:
    return work


_one_item_at_a_time = threading.Lock()


def _perform_on_worker(items: list[Item], work: Work, out: Path) -> TaskResult:
    """On the worker: one item at a time, with all threads of the worker."""
    from distributed import get_worker

    with _one_item_at_a_time, thread_limit(get_worker().state.nthreads):
        return perform_task(items, work, out)
