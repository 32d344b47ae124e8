"""Where to cut an image: everything at once that would take one label if it were a little cheaper everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mixfield.criteria.leaf import Leaf, Proposal
from mixfield.criteria.regions import cut, evidence


@dataclass(frozen=True)
class WholeLabels:
    """ADD cuts of whole labels: all pixels, however scattered, that one cheaper label would win, by the evidence alone.

    Mean field may lose an object in all its parts, or all objects of a kind, and no region of it is large enough to
    bring the others back.

    Attributes
    ----------
    tilt : nats by which the label gets cheaper.
    largest : labels proposed, those that win most pixels.
    smallest, most : shares of the field between which a group must lie; who wins nearly everything says nothing.
    """

    tilt: float = 3.0
    largest: int = 3
    smallest: float = 5e-4
    most: float = 0.8

    def propose(self, leaf: Leaf) -> Iterator[Proposal]:
        """Cuts, the largest groups first."""
        probabilities, labels = evidence(leaf), leaf.q.argmax(1)
        best = probabilities.max(1) * np.exp(-self.tilt)
        groups = [
            np.flatnonzero(leaf.uncut & (labels != label) & (probabilities[:, label] > best))
            for label in range(probabilities.shape[1])
        ]
        least, most = max(1.0, self.smallest * len(labels)), self.most * len(labels)
        wins = [label for label, group in enumerate(groups) if least <= len(group) <= most]
        for label in sorted(wins, key=lambda label: -len(groups[label]))[: self.largest]:
            yield Proposal(cut(groups[label], label))
