"""Progress of a batch: counts, rate and remaining time."""

from __future__ import annotations

import time
from collections.abc import Callable

from mixfield.batch.items import Outcome


class Tally:
    """Counts of outcomes.

    Attributes
    ----------
    total : number of items.
    reused : results of earlier runs.
    done, failed : results and failures of this run.
    """

    def __init__(self, total: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.total = total
        self.reused = self.done = self.failed = 0
        self._clock = clock
        self._started = clock()

    def add(self, outcome: Outcome) -> None:
        """Count an outcome; the clock starts after the results of earlier runs."""
        if not outcome.fresh:
            self.reused += 1
            self._started = self._clock()
        elif outcome.failure is None:
            self.done += 1
        else:
            self.failed += 1

    @property
    def completed(self) -> int:
        """Items with a result or a failure."""
        return self.reused + self.done + self.failed

    @property
    def rate(self) -> float:
        """Items per second in this run."""
        seconds = self._clock() - self._started
        return (self.done + self.failed) / seconds if seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Remaining seconds at this rate; None before the first outcome of this run."""
        return (self.total - self.completed) / self.rate if self.rate > 0 else None

    def __str__(self) -> str:
        left = self.seconds_left
        parts = [f"{self.completed} of {self.total}"]
        parts += [f"{self.reused} of them earlier"] if self.reused else []
        parts += [f"{self.rate:.3g}/s" if self.rate >= 1 or not self.rate else f"{1 / self.rate:.3g} s each"]
        parts += [f"{_clock_time(left)} left"] if left is not None else []
        return ", ".join([*parts, f"{self.failed} failed"])


def _clock_time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}"
