"""A Dask cluster of real processes, to be killed."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

TESTS = Path(__file__).parents[1]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def cluster(workers):
    """Start a scheduler and workers; yields its address, its process and their processes."""
    address = f"tcp://127.0.0.1:{free_port()}"
    path = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    environment = os.environ | {"PYTHONPATH": path}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": environment}
    dask = [sys.executable, "-m", "dask"]
    scheduler = subprocess.Popen(
        [*dask, "scheduler", "--host", "127.0.0.1", "--port", address.rpartition(":")[2], "--no-dashboard"], **quiet
    )
    worker_processes = [
        subprocess.Popen([*dask, "worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard"], **quiet)
        for _ in range(workers)
    ]
    try:
        yield address, scheduler, worker_processes
    finally:
        for process in [scheduler, *worker_processes]:
            process.kill()
            process.wait()


def wait_for_lines(manifest, count):
    """Wait until a manifest has this number of lines."""
    deadline = time.monotonic() + 60
    while not manifest.exists() or manifest.read_bytes().count(b"\n") < count:
        assert time.monotonic() < deadline, f"{manifest} has not grown to {count} lines"
        time.sleep(0.01)
