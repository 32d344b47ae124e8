"""A limit on the time of a search."""

from __future__ import annotations

import time


class Deadline:
    """The moment ``seconds`` from now; never, if None."""

    def __init__(self, seconds: float | None = None) -> None:
        self._end = float("inf") if seconds is None else time.monotonic() + seconds

    @property
    def passed(self) -> bool:
        """Whether it is over."""
        return time.monotonic() >= self._end
