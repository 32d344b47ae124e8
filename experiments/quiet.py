"""Experiments measure fields on purpose that do not converge or have fewer modes: their warnings are not shown."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from mixfield.errors import MixfieldWarning


@contextmanager
def ignore_warnings() -> Iterator[None]:
    """Ignore the warnings of mixfield inside the block."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MixfieldWarning)
        yield
