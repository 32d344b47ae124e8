"""Progress of a batch: how many items have a result or a failure."""

from __future__ import annotations

from mixfield.batch.items import Outcome


class Tally:
    """Counts of outcomes.

    Attributes
    ----------
    total : number of items.
    reused : results of earlier runs.
    done, failed : results and failures of this run.
    """

    def __init__(self, total: int) -> None:
        self.total = total
        self.reused = self.done = self.failed = 0

    def add(self, outcome: Outcome) -> None:
        """Count an outcome."""
        if not outcome.fresh:
            self.reused += 1
        elif outcome.failure is None:
            self.done += 1
        else:
            self.failed += 1

    @property
    def completed(self) -> int:
        """Items with a result or a failure."""
        return self.reused + self.done + self.failed

    def __str__(self) -> str:
        earlier = f", {self.reused} of them earlier" if self.reused else ""
        return f"{self.completed} of {self.total}{earlier}, {self.failed} failed"
