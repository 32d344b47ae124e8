"""Threads inside workers, limited so that N workers do not fight for the cores."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

_SETTINGS = ("MIXFIELD_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@contextmanager
def limited(threads: int) -> Iterator[None]:
    """What is called and started in this block uses so many threads."""
    before = {name: os.environ.get(name) for name in _SETTINGS}
    os.environ.update(dict.fromkeys(_SETTINGS, str(threads)))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
