"""The paper's rule for people on fine grids: the entropy of "is anybody in this neighbourhood?".

On cells smaller than a person no single cell becomes uncertain: the probability spreads over neighbours, and then
thousands of cells become uncertain at once.  Whether a neighbourhood is occupied becomes uncertain where the doubt is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixfield import _simplex
from mixfield.constraints.cardinality import Cardinality
from mixfield.criteria.leaf import Leaf, Proposal
from mixfield.criteria.phase_transition import BITS, HIGH, LOW, box, check_thresholds

Floats = NDArray[np.float64]
Int64s = NDArray[np.int64]

SMALLEST = 1e-12


@dataclass(frozen=True)
class NeighbourhoodEntropy:
    """Neighbourhoods that are certain at T = 1 and uncertain at the lowest possible T, the largest rise first (C = 1).

    Attributes
    ----------
    radius : cells around the centre, along every axis of the grid.
    label : the label that is counted.
    low, high : entropy thresholds in bits.
    most : temperatures at which more neighbourhoods than this part of the grid qualify are passed over.
    tries : proposals per temperature.
    """

    radius: int = 1
    label: int = 1
    low: float = LOW
    high: float = HIGH
    most: float = 0.05
    tries: int = 4

    def __post_init__(self) -> None:
        check_thresholds(self.low, self.high)

    def propose(self, leaf: Leaf) -> Iterator[Proposal]:
        shape = leaf.energy.shape
        now = self._entropy(leaf.q, shape)
        free = leaf.cell.allowed.sum(1) > 1
        for temperature, q in zip(leaf.temperatures, leaf.annealed_path, strict=True):
            then = self._entropy(q, shape)
            candidates = np.flatnonzero((then > self.high) & (now < self.low) & free)
            if not 0 < len(candidates) <= max(self.tries, self.most * len(free)):
                continue
            ranked = candidates[np.argsort(-(then - now)[candidates], kind="stable")]
            for centre in apart(ranked, 2 * self.radius + 1, shape, self.tries):
                around = box(int(centre), self.radius, shape)
                yield Proposal(Cardinality(around[free[around]], np.array(self.label), 1), float(temperature))

    def _entropy(self, q: Floats, shape: tuple[int, ...]) -> Floats:
        """(n,) entropy in bits of "at least one of the neighbourhood takes the label"."""
        none = np.exp(box_sums(np.log(np.maximum(1.0 - q[:, self.label], SMALLEST)).reshape(shape), self.radius))
        return (_simplex.surprises(none) + _simplex.surprises(1.0 - none)).ravel() * BITS


def box_sums(values: Floats, radius: int) -> Floats:
    """Sums over the neighbourhood of each cell."""
    from scipy.ndimage import correlate1d

    for axis in range(values.ndim):
        values = correlate1d(values, np.ones(2 * radius + 1), axis, mode="constant")
    return values


def apart(ranked: Int64s, distance: float, shape: tuple[int, ...], count: int) -> Int64s:
    """The first ``count`` of ``ranked`` that keep ``distance`` (in cells) from those before them."""
    places = np.stack(np.unravel_index(ranked, shape), axis=-1).astype(np.float64)
    chosen: list[int] = []
    left = np.ones(len(ranked), bool)
    while left.any() and len(chosen) < count:
        k = int(np.argmax(left))
        chosen.append(k)
        left &= np.linalg.norm(places - places[k], axis=-1) >= distance
        left[k] = False
    return ranked[chosen]
