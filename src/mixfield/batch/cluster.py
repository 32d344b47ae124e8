"""Workers of a Dask cluster, here or on many machines that see the same folders."""

from __future__ import annotations

import logging
import multiprocessing
import re
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, Queue
from typing import Any

from mixfield import _threads
from mixfield.batch.interrupts import deaf
from mixfield.batch.items import Item, Outcome, Work
from mixfield.batch.perform import perform
from mixfield.batch.processes import GUARD
from mixfield.batch.threads import limited
from mixfield.errors import BatchError, MixfieldError

PATIENCE = 30.0  # seconds to wait for a scheduler and for its first worker
AHEAD = 3  # tasks that a worker holds, so that it never waits for the scheduler; Dask moves them to idle ones
RECOUNT = 5.0  # seconds after which workers are counted again
TASK = 0.2  # seconds of quick items that are one task, for each task costs milliseconds
MOST = 100  # items of a task

CALM = {
    # threads of Dask that wake up fifty times a second take a tenth of a worker's time from the work
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "500ms",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.comm.timeouts.connect": "120s",  # a busy machine starts workers slowly
    # by default memory is given back after every array, and the next one waits for its pages
    "distributed.nanny.pre-spawn-environ": {},
}


@dataclass(frozen=True)
class Dask:
    """Workers of a Dask cluster.

    Attributes
    ----------
    scheduler : address such as ``tcp://host:8786``; without one a cluster is started on this machine.
    workers : how many to start on this machine; one for each core if not told.
    patience : seconds to wait for a scheduler and for its first worker.

    Notes
    -----
    A worker does one item at a time, with as many threads as Dask allows it.  Dask tries an item again whose worker
    was lost, three times.  The cluster of one run started here does without Dask's profiler and limit of memory; in one
    of your own, ``distributed.worker.profile.enabled: False`` and no ``MALLOC_TRIM_THRESHOLD_`` make items faster.
    """

    scheduler: str | None = None
    workers: int | None = None
    patience: float = PATIENCE

    def run(self, work: Work, items: Iterable[Item], out: Path) -> Iterator[Outcome]:
        """See `Engine`."""
        with self._client() as client:
            todo, ready, tasks = _Todo(items), Queue[Any](), dict[str, tuple[list[Item], bool]]()
            # a task and not scattered data: Dask makes it again when the worker that holds it is lost
            shared = client.submit(_itself, work, pure=False)
            counted, at_once = float("-inf"), 1
            while True:
                if time.monotonic() > counted + RECOUNT:  # workers come and go
                    counted, at_once = time.monotonic(), max(1, AHEAD * sum(client.nthreads().values()))
                # a lost worker takes all its tasks with it: what was lost runs by itself
                wary = todo.wary or any(alone for _, alone in tasks.values())
                while len(tasks) < (1 if wary else at_once) and (some := todo.next()):
                    future = client.submit(_perform, some, shared, out, pure=False)
                    tasks[future.key] = some, wary
                    future.add_done_callback(ready.put)
                if not tasks:
                    return
                for future in self._wait(ready, client):
                    if future.status in ("lost", "pending"):  # with its worker; Dask does it again
                        future.add_done_callback(ready.put)
                    else:
                        some, alone = tasks.pop(future.key)
                        yield from todo.settle(some, self._done(future), alone=alone)

    @contextmanager
    def _client(self) -> Iterator[Any]:
        """A client of the cluster that was told, or of one for this run."""
        if self.scheduler is not None:
            with _connected(_library(), self.scheduler, self.patience) as client:
                yield client
            return
        workers = self.workers or _threads.available()
        with (
            limited(max(1, _threads.available() // workers)),
            _started(workers) as cluster,
            _connected(_library(), cluster.scheduler_address, self.patience) as client,
        ):
            yield client

    def _wait(self, ready: Queue[Any], client: Any) -> list[Any]:
        """The futures that are done, at least one."""
        done: list[Any] = []
        while not done or not ready.empty():
            if client.status != "running":
                raise self._gone()
            with suppress(Empty):
                done.append(ready.get(timeout=0.5))
        return done

    def _done(self, future: Any) -> _Done | str:
        """What a task came to, or why it failed as a whole."""
        if future.status == "error":
            return _failure(future.exception())
        try:
            done: _Done = future.result()
        except (CancelledError, OSError):
            raise self._gone() from None
        except Exception as error:  # its worker was lost after all, and so were those that did it again
            return _failure(error)
        return done

    def _gone(self) -> BatchError:
        where = f" at {self.scheduler}" if self.scheduler else ""
        return BatchError(
            f"the Dask scheduler{where} has gone; finished results are kept: start it and run the same command again"
        )


@dataclass(frozen=True)
class _Done:
    """Outcomes of the first items of a task, at least one, and the seconds they took."""

    outcomes: list[Outcome]
    seconds: float


class _Todo:
    """Items in tasks: slow ones alone, quick ones together, as many as the last task promises to do in time."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._items, self._alone, self._size = deque(items), deque[Item](), 1

    def next(self) -> list[Item]:
        """The items of the next task, none if there are none."""
        if self._alone:
            return [self._alone.popleft()]
        return [self._items.popleft() for _ in range(min(self._size, len(self._items)))]

    @property
    def wary(self) -> bool:
        """Whether items wait that were lost together with others."""
        return bool(self._alone)

    def settle(self, items: list[Item], done: _Done | str, *, alone: bool = False) -> list[Outcome]:
        """Outcomes of a task; what it did not come to is to do again, and if it failed beside others, each alone."""
        if isinstance(done, _Done):
            self._items.extendleft(reversed(items[len(done.outcomes) :]))
            self._size = max(1, min(MOST, int(len(done.outcomes) * TASK / max(done.seconds, 1e-9))))
            return done.outcomes
        if alone:
            return [Outcome(items[0].name, failure=done)]
        self._alone += items
        return []


def _failure(error: Exception) -> str:
    """Why a task failed outside of the work."""
    from distributed.scheduler import KilledWorker

    if isinstance(error, KilledWorker):
        return f"its worker was lost {error.allowed_failures + 1} times"
    return f"unexpected {type(error).__name__}: {error}"  # the work could not be sent, or not be read


def _library() -> Any:
    """Dask without its log lines about lost workers and connections, not even while it ends: outcomes say what
    matters."""
    try:
        import distributed
    except ImportError:
        raise MixfieldError("the engine dask needs Dask: pip install 'mixfield[cluster]'") from None
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] in ("distributed", "tornado", "asyncio"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    return distributed


@contextmanager
def _started(workers: int) -> Iterator[Any]:
    """A cluster on this machine."""
    method = _nursery()
    distributed = _library()
    import dask

    with dask.config.set(CALM | {"distributed.worker.multiprocessing-method": method}):  # for replacements too
        try:
            with deaf():
                cluster = distributed.LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,
                    memory_limit=0,  # results are files, Dask holds none
                    dashboard_address=":0",  # any port: another cluster may be running here
                    scheduler_kwargs={"dashboard": False},
                    silence_logs=logging.CRITICAL,
                )
        except RuntimeError as error:
            reason = (str(error).splitlines() or ["no reason given"])[0]
            raise BatchError(f"no Dask cluster could be started here: {reason}; {GUARD}") from None
        with cluster:
            yield cluster


def _nursery() -> str:
    """How workers are started.  Where the system can, from a process that imports what they need while this one does:
    they are there sooner, and gone at once."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return "spawn"
    from multiprocessing import forkserver

    multiprocessing.get_context("forkserver").set_forkserver_preload(["mixfield.batch.nursery"])
    with deaf():
        forkserver.ensure_running()
    return "forkserver"


@contextmanager
def _connected(distributed: Any, address: str, patience: float) -> Iterator[Any]:
    """A client, once there is a worker."""
    if not re.fullmatch(r"(tcp|tls|ws|wss|ucx|ucxx|inproc)://.+", address):  # Dask hangs on some others
        raise BatchError(f"no Dask scheduler answers at {address}: an address looks like tcp://host:8786")
    try:
        client = distributed.Client(address, timeout=patience, set_as_default=False)
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise BatchError(f"no Dask scheduler answers at {address}: {reason}") from None
    try:
        try:
            client.wait_for_workers(1, timeout=patience)
        except TimeoutError:
            raise BatchError(
                f"the Dask scheduler at {address} has no workers; start some with: dask worker {address}"
            ) from None
        yield client
    finally:
        client.close(timeout=2)


def _itself(work: Work) -> Work:
    return work


_one_at_a_time = threading.Lock()


def _perform(items: list[Item], work: Work, out: Path) -> _Done:
    """On the worker: one item at a time, with all the threads that Dask gives it, until the time of a task is over."""
    from distributed import get_worker

    with _one_at_a_time, limited(get_worker().state.nthreads):
        started, outcomes = time.monotonic(), list[Outcome]()
        for item in items:
            outcomes.append(perform(work, item, out))
            seconds = time.monotonic() - started
            if seconds > TASK or outcomes[-1].stops:
                break
        return _Done(outcomes, seconds)
