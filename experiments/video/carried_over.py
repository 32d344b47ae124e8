"""A criterion that cuts a frame where the frame before had an alternative."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter

from mixfield.apps.matching import Matches
from mixfield.constraints import Cardinality
from mixfield.criteria import Leaf, Proposal
from mixfield.errors import MixfieldError
from mixfield.mixture import MixturePosterior

Ints = NDArray[np.int64]

NO_LABEL = -1


@dataclass(frozen=True, eq=False)
class CarriedOver:
    """Cuts of the pixels that another mode than mean field labels differently in the frame before.

    Attributes
    ----------
    labels : (H, W) labels carried over from the frame before, `NO_LABEL` elsewhere.
    active : (l,) the labels of the field that is cut, numbered as in ``labels``; see `mixfield.energy.active_labels`.
    smallest : share of the field that a group must have.
    """

    labels: Ints
    active: Ints
    smallest: float = 5e-4

    @classmethod
    def between(
        cls, before: MixturePosterior, mode: int, matches: Matches, active: Ints, *, spacing: int = 2
    ) -> CarriedOver:
        """Carry over the labels in which a mode of the frame before differs from mean field.

        Parameters
        ----------
        before : the modes of the frame before.
        mode : index of the mode.
        matches : matching points of the two frames.
        active : labels of the field that is cut.
        spacing : distance of the points in pixels; the pixels between take the label of a point.
        """
        if not 0 <= mode < len(before.modes):
            raise MixfieldError(f"mode must lie in 0 to {len(before.modes) - 1}, got {mode}")
        labelings = before.labelings()
        alternative, root = labelings[mode].ravel(), labelings[before.root_mode].ravel()
        changed = (alternative != root)[matches.first]
        carried = np.full(alternative.size, NO_LABEL)
        carried[matches.second[changed]] = alternative[matches.first[changed]]
        return cls(maximum_filter(carried.reshape(before.shape), spacing), active)

    def propose(self, leaf: Leaf) -> Iterator[Proposal]:
        """One cut per label: at least half of its pixels take the label, C = L / 2 as in the paper."""
        carried, labels = self.labels.ravel(), leaf.q.argmax(1)
        for index, label in enumerate(self.active.tolist()):
            group = np.flatnonzero(leaf.uncut & (carried == label) & (labels != index))
            if len(group) >= max(1.0, self.smallest * len(labels)):
                yield Proposal(Cardinality(group, np.full(len(group), index), max(1, len(group) // 2)))
