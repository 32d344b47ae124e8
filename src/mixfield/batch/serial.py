"""One item after the other, in this process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from mixfield.batch.items import Item, Outcome, Work
from mixfield.batch.perform import perform


@dataclass(frozen=True)
class Serial:
    """No workers: everything here, with all threads for each item."""

    def run(self, work: Work, items: Iterable[Item], out: Path) -> Iterator[Outcome]:
        for item in items:
            yield perform(work, item, out)
