"""Groups of variables that the constraints of a saved posterior share: each is written once, as runs of variables.

A cut of an image is a constraint on up to millions of pixels, and stands in every node and mode below it.  Its pixels
are neighbours: runs of consecutive variables, one for each row of a region, are a hundredth of their numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield._runs import expanded, runs_of
from mixfield.constraints.cardinality import Cardinality

Header = dict[str, Any]
Ints = NDArray[np.int64]

INT64 = 8  # bytes


def share_groups(header: Header) -> tuple[Ints, Ints]:
    """Replace the groups of all constraints of a header by their indices.

    Returns
    -------
    runs
        (R, 2) first variable and length of each run of consecutive variables, of all groups.
    counts
        (G,) number of runs of each group.
    """
    seen: dict[tuple[int, ...], int] = {}
    for constraint in _constraints(header):
        constraint["group"] = seen.setdefault(tuple(constraint["group"]), len(seen))
        labels = constraint["labels"]
        constraint["labels"] = labels[:1] if len(set(labels)) == 1 else labels
    runs = [runs_of(np.array(group, np.int64)) for group in seen]
    counts = np.array([len(part) for part in runs], np.int64)
    return np.concatenate([np.empty((0, 2), np.int64), *runs]), counts


@dataclass
class SharedConstraints:
    """The constraints of a file, made once each.

    Attributes
    ----------
    groups : (L,) variables of each group.
    largest : bytes that the constraints may take.
    """

    groups: list[Ints]
    largest: int
    _made: dict[tuple[Any, ...], Cardinality] = field(default_factory=dict)
    _size: int = 0

    @staticmethod
    def restored(runs: Ints, counts: Ints, n: int, largest: int) -> SharedConstraints:
        """From what `share_groups` returned, for ``n`` variables; a ``ValueError`` if they do not fit one another."""
        first, length = runs.T
        if counts.min(initial=1) < 1 or counts.sum() != len(runs):
            raise ValueError(f"groups must have one or more of {len(runs)} runs each")
        if length.min(initial=1) < 1 or first.min(initial=0) < 0 or (length > n).any() or (first > n - length).any():
            raise ValueError(f"the runs of groups must lie in 0..{n - 1}")
        if INT64 * int(length.sum()) > largest:
            raise ValueError(f"groups of {length.sum()} variables take more than {largest} bytes")
        parts = np.split(runs, np.cumsum(counts))[:-1]
        return SharedConstraints([expanded(part) for part in parts], largest)

    def constraint(self, row: Header) -> Cardinality:
        """The constraint that a row of the header describes."""
        index = row["group"]
        if not isinstance(index, int) or not 0 <= index < len(self.groups):
            raise ValueError(f"a constraint must refer to one of {len(self.groups)} groups, got {index!r}")
        key = (index, tuple(row["labels"]), int(row["count"]), int(row["sign"]))
        if key not in self._made:
            self._size += INT64 * len(self.groups[index])
            if self._size > self.largest:
                raise ValueError(f"its constraints take more than {self.largest} bytes")
            self._made[key] = Cardinality(self.groups[index], np.array(key[1]), key[2], key[3])
        return self._made[key]


def _constraints(header: Header) -> Iterator[Header]:
    """The constraints of all modes and nodes."""
    for mode in header["modes"]:
        yield from mode["constraints"]
    yield from (node["constraint"] for node in header["tree"] if node["constraint"] is not None)
