"""Workers of a Dask cluster, here or on many machines that see the same folders."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from queue import Empty, Queue
from typing import Any

from mixfield import _threads
from mixfield.batch.items import Item, Outcome, Work
from mixfield.batch.perform import perform
from mixfield.batch.threads import limited
from mixfield.errors import BatchError, MixfieldError

PATIENCE = 30.0  # seconds to wait for a scheduler and for its first worker
AHEAD = 10  # items that a worker holds, so that it never waits for the scheduler; Dask moves them to idle ones


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
    was lost, three times.
    """

    scheduler: str | None = None
    workers: int | None = None
    patience: float = PATIENCE

    def run(self, work: Work, items: Iterable[Item], out: Path) -> Iterator[Outcome]:
        """See `Engine`."""
        with self._client() as client:
            untried, ready = iter(items), Queue[Any]()
            # a task and not scattered data: Dask makes it again when the worker that holds it is lost
            shared = client.submit(_itself, work, pure=False)
            names: dict[str, str] = {}
            at_once = max(1, AHEAD * sum(client.nthreads().values()))
            while True:
                chunk = list(islice(untried, at_once - len(names))) if len(names) <= at_once // 2 else []
                for item, future in zip(
                    chunk, client.map(_perform, chunk, work=shared, out=out, pure=False), strict=True
                ):
                    names[future.key] = item.name
                    future.add_done_callback(ready.put)
                if not names:
                    return
                done = []
                for future in self._wait(ready, client):
                    if future.status in ("lost", "pending"):  # with its worker; Dask does it again
                        future.add_done_callback(ready.put)
                    else:
                        done.append(future)
                yield from self._outcomes(client, done, [names.pop(future.key) for future in done])

    @contextmanager
    def _client(self) -> Iterator[Any]:
        """A client of the cluster that was told, or of one for this run."""
        distributed = _library()
        _silence()
        if self.scheduler is not None:
            with _connected(distributed, self.scheduler, self.patience) as client:
                yield client
            return
        workers = self.workers or _threads.available()
        with (
            limited(max(1, _threads.available() // workers)),
            distributed.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster,
            _connected(distributed, cluster.scheduler_address, self.patience) as client,
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

    def _outcomes(self, client: Any, futures: list[Any], names: list[str]) -> list[Outcome]:
        """What futures bring: all together, for each trip to the workers takes milliseconds."""
        if any(future.status == "cancelled" for future in futures):
            raise self._gone()
        failed = {name: future for name, future in zip(names, futures, strict=True) if future.status == "error"}
        try:
            found = client.gather([future for future in futures if future.status != "error"])
        except (CancelledError, OSError):
            raise self._gone() from None
        return found + [Outcome(name, failure=_failure(future)) for name, future in failed.items()]

    def _gone(self) -> BatchError:
        where = f" at {self.scheduler}" if self.scheduler else ""
        return BatchError(
            f"the Dask scheduler{where} has gone; finished results are kept: start it and run the same command again"
        )


def _failure(future: Any) -> str:
    """Why a task failed outside of the work."""
    from distributed.scheduler import KilledWorker

    error = future.exception()
    if isinstance(error, KilledWorker):
        return f"its worker was lost {error.allowed_failures + 1} times"
    return f"unexpected {type(error).__name__}: {error}"  # the work could not be sent, or not be read


def _library() -> Any:
    try:
        import distributed
    except ImportError:
        raise MixfieldError("the engine dask needs Dask: pip install 'mixfield[cluster]'") from None
    return distributed


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
        client.wait_for_workers(1, timeout=patience)
        yield client
    except TimeoutError:
        raise BatchError(
            f"the Dask scheduler at {address} has no workers; start some with: dask worker {address}"
        ) from None
    finally:
        client.close(timeout=2)


def _silence() -> None:
    """No more log lines about lost workers and connections, not even while Dask ends: outcomes say what matters."""
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] in ("distributed", "tornado", "asyncio"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def _itself(work: Work) -> Work:
    return work


_one_at_a_time = threading.Lock()


def _perform(item: Item, work: Work, out: Path) -> Outcome:
    """On the worker: one item at a time, with all the threads that Dask gives it."""
    from distributed import get_worker

    with _one_at_a_time, limited(get_worker().state.nthreads):
        return perform(work, item, out)
