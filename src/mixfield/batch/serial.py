"""The serial engine: one item after the other in this process."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass
from pathlib import Path

from mixfield.batch.items import Item, Outcome, Work
from mixfield.batch.perform import perform


@dataclass(frozen=True)
class Serial:
    """No workers: every item runs in this process, with all its threads."""

    def run(self, work: Work, items: Iterable[Item], out: Path) -> Generator[Outcome]:
        """See `Engine`."""
        for item in items:
            yield perform(work, item, out)
