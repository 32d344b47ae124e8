"""Cuts of a frame where the frame before it had an alternative, carried over by the points that both show."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter

from mixfield.apps.matching import Matches
from mixfield.criteria.leaf import Leaf, Proposal
from mixfield.criteria.regions import cut
from mixfield.errors import MixfieldError
from mixfield.mixture.posterior import MixturePosterior

Ints = NDArray[np.int64]

NOTHING = -1  # where no label was carried to


@dataclass(frozen=True, eq=False)
class CarriedOver:
    """ADD cuts: pixels that get the label which another mode than mean field gave their point in the frame before.

    Attributes
    ----------
    labels : (H, W) labels that were carried over, -1 where there was none.
    smallest : share of the field that a group must have.

    Examples
    --------
    >>> import numpy as np, mixfield as mf
    >>> from mixfield.apps import segmentation_energy
    >>> from mixfield.apps.carrying import CarriedOver
    >>> from mixfield.apps.matching import Matches
    >>> energy = segmentation_energy(np.zeros((12, 16), np.uint8), np.full((12, 16), 0.45))
    >>> posterior = mf.infer(energy, 2)
    >>> still = Matches(np.arange(192), np.arange(192), 1.0)
    >>> carried = CarriedOver.between(posterior, 1, still)
    >>> bool((carried.labels == np.where(posterior.labelings()[1] == 1, 1, -1)).all())
    True
    """

    labels: Ints
    smallest: float = 5e-4

    @classmethod
    def between(cls, before: MixturePosterior, mode: int, matches: Matches, *, spacing: int = 2) -> CarriedOver:
        """What one of the modes of the frame before labels otherwise than its mean field, at the matching points.

        ``spacing`` is the distance of the points in pixels; those between them follow.
        """
        if not 0 <= mode < len(before.modes):
            raise MixfieldError(f"mode must lie in 0 to {len(before.modes) - 1}, got {mode}")
        labelings = before.labelings()
        other, plain = labelings[mode].ravel(), labelings[before.root_mode].ravel()
        moved = (other != plain)[matches.first]
        carried = np.full(other.size, NOTHING)
        carried[matches.second[moved]] = other[matches.first[moved]]
        return cls(maximum_filter(carried.reshape(before.shape), spacing))

    def propose(self, leaf: Leaf) -> Iterator[Proposal]:
        """A cut for every label."""
        carried, labels = self.labels.ravel(), leaf.q.argmax(1)
        kept = getattr(leaf.energy, "kept", None)  # labels that can never matter are left out
        for label, number in enumerate(range(leaf.q.shape[1]) if kept is None else kept.tolist()):
            group = np.flatnonzero(leaf.uncut & (carried == number) & (labels != label))
            if len(group) >= max(1.0, self.smallest * len(labels)):
                yield Proposal(cut(group, label))
