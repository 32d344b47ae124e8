"""A limit on the time of a search."""

from __future__ import annotations

from time import monotonic as clock


class Deadline:
    """The moment ``seconds`` from now; never, if None."""

    def __init__(self, seconds: float | None = None) -> None:
        self._start, self._seconds = clock(), float("inf") if seconds is None else seconds

    @property
    def passed(self) -> bool:
        """Whether it is over."""
        return clock() - self._start >= self._seconds

    def part(self, share: float) -> Deadline:
        """The moment when a share of the same seconds is over."""
        earlier = Deadline(share * self._seconds)
        earlier._start = self._start
        return earlier
