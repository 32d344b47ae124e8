"""Where to cut an image: everything at once that would take one label if it were a little cheaper everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mixfield.criteria.leaf import Leaf, Proposal
from mixfield.criteria.regions import cut, evidence


@dataclass(frozen=True)
class WholeLabels:
    """ADD cuts of whole labels: all pixels that prefer a label, by the evidence alone, once it is a little cheaper.

    Mean field may lose an object in all its parts, or all objects of a kind, and no region of it is large enough to
    bring the others back.

    Attributes
    ----------
    tilt : nats by which the label gets cheaper.
    largest : labels proposed, those with the largest groups.
    smallest, most : shares of the field between which a group must lie.
    """

    tilt: float = 3.0
    largest: int = 3
    smallest: float = 5e-4
    most: float = 0.8

    def propose(self, leaf: Leaf) -> Iterator[Proposal]:
        """Cuts, the largest groups first."""
        probabilities, labels = evidence(leaf), leaf.labels
        best = np.ascontiguousarray(probabilities.T).max(0) * np.exp(-self.tilt)  # faster than max(1)
        groups = [
            np.flatnonzero(leaf.uncut & (labels != label) & (probabilities[:, label] > best))
            for label in range(probabilities.shape[1])
        ]
        least, most = max(1.0, self.smallest * len(labels)), self.most * len(labels)
        fitting = [label for label, group in enumerate(groups) if least <= len(group) <= most]
        for label in sorted(fitting, key=lambda label: -len(groups[label]))[: self.largest]:
            yield Proposal(cut(groups[label], label))
