"""Thread limits of workers."""

from __future__ import annotations

import os
import subprocess
import sys

from mixfield import _threads
from mixfield.batch.threads import VARIABLES, thread_limit

SHOW = [sys.executable, "-c", "import os; print(os.environ['OMP_NUM_THREADS'])"]


def test_the_limit_holds_in_the_block_and_is_inherited(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("MIXFIELD_THREADS", raising=False)
    before = {name: os.environ.get(name) for name in VARIABLES}
    with thread_limit(3):
        assert _threads.available() == 3
        assert subprocess.run(SHOW, capture_output=True, text=True, check=True).stdout == "3\n"
    assert {name: os.environ.get(name) for name in VARIABLES} == before


def test_cores_without_affinity(monkeypatch):
    """macOS and Windows have no `os.sched_getaffinity`."""
    monkeypatch.delenv("MIXFIELD_THREADS", raising=False)
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 5)
    assert _threads.available() == 5
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert _threads.available() == 1
