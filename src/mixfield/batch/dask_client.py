"""Clients of Dask clusters: of a running scheduler, or of a cluster started on this machine."""

from __future__ import annotations

import logging
import multiprocessing
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mixfield.batch.interrupts import sigint_blocked
from mixfield.batch.processes import GUARD
from mixfield.errors import BatchError, MixfieldError

LOCAL_CONFIG = {
    # periodic threads of Dask take a tenth of a worker's time
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "500ms",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.comm.timeouts.connect": "120s",  # a busy machine starts workers slowly
    # by default Dask makes malloc return memory after every array, and the next array waits for its pages
    "distributed.nanny.pre-spawn-environ": {},
}


@contextmanager
def connected(address: str, timeout: float) -> Iterator[Any]:
    """A client of a scheduler that has at least one worker."""
    distributed = _distributed()
    if not re.fullmatch(r"(tcp|tls|ws|wss|ucx|ucxx|inproc)://.+", address):  # Dask hangs on some other addresses
        raise BatchError(f"no Dask scheduler answers at {address}: an address looks like tcp://host:8786")
    try:
        client = distributed.Client(address, timeout=timeout, set_as_default=False)
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        raise BatchError(f"no Dask scheduler answers at {address}: {_first_line(error)}") from None
    try:
        _wait_for_worker(client, address, timeout)
        yield client
    finally:
        client.close(timeout=2)


@contextmanager
def local_cluster(workers: int) -> Iterator[str]:
    """Start a cluster on this machine; yields the address of its scheduler."""
    distributed = _distributed()
    import dask

    method = {"distributed.worker.multiprocessing-method": _start_method()}
    with dask.config.set(LOCAL_CONFIG | method):  # also applies to workers that are restarted later
        try:
            with sigint_blocked():
                cluster = distributed.LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,
                    memory_limit=0,  # results are files, Dask stores none
                    dashboard_address=":0",  # any port: another cluster may run on this machine
                    scheduler_kwargs={"dashboard": False},
                    silence_logs=logging.CRITICAL,
                )
        except RuntimeError as error:
            raise BatchError(f"no Dask cluster could be started here: {_first_line(error)}; {GUARD}") from None
        with cluster:
            yield cluster.scheduler_address


def _distributed() -> Any:
    """The library, with its log messages about lost workers and connections switched off: outcomes report them."""
    try:
        import distributed
    except ImportError:
        raise MixfieldError("the engine dask needs Dask: pip install 'mixfield[cluster]'") from None
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] in ("distributed", "tornado", "asyncio"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    return distributed


def _start_method() -> str:
    """``"forkserver"`` where it can run, with a server that imports what workers need; else ``"spawn"``.

    Forked workers start sooner, and exit at once.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return "spawn"
    from multiprocessing import forkserver

    multiprocessing.get_context("forkserver").set_forkserver_preload(["mixfield.batch.forkserver_preload"])
    try:
        with sigint_blocked():
            forkserver.ensure_running()
    except OSError:  # its socket is in the temporary folder, whose path may be too long
        return "spawn"
    return "forkserver"


def _wait_for_worker(client: Any, address: str, timeout: float) -> None:
    try:
        client.wait_for_workers(1, timeout=timeout)
    except TimeoutError:
        raise BatchError(
            f"the Dask scheduler at {address} has no workers; start some with: dask worker {address}"
        ) from None


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
