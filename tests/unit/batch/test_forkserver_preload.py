"""The module that the fork server imports."""

from __future__ import annotations

import subprocess
import sys

import pytest

CODE = """
import sys
import mixfield.batch.forkserver_preload
from mixfield.kernels import counts
assert {"numba", "distributed.nanny", "mixfield.batch.cluster"} <= set(sys.modules)
assert counts.distribution.signatures, "the compiled function was not called"
"""


def test_what_workers_need_is_loaded():
    pytest.importorskip("distributed")
    subprocess.run([sys.executable, "-c", CODE], check=True, env=None, timeout=120)
