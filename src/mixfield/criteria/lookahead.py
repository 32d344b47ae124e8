"""Where to cut, by looking at both children first: the default for graphs.

The bound log sum_k exp(A_k) is what a cut should raise, so candidates are tried and the best is made.  But a user asks
for *interpretations*: a cut that separates another optimum of the whole field counts for more than one that refines a
mode, and the first cut of all goes between the two best of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixfield.constraints.cardinality import Cardinality
from mixfield.criteria.leaf import Leaf, Proposal
from mixfield.solvers.free_energy import entropies

Floats = NDArray[np.float64]
Int64s = NDArray[np.int64]


@dataclass(frozen=True)
class Lookahead:
    """Single-variable cuts, which are strict, ranked by the bound of their children.

    Attributes
    ----------
    candidates : variables tried per leaf.
    proposals : how many of them are handed on, best first.
    novelty : factor on the weight of another optimum of the whole field, against the gain of a refinement.
    lightest : nats below the leaf's own mode down to which an optimum is a rival at all.
    budget : numbers per batch of trials; large fields try fewer candidates.
    """

    candidates: int = 24
    proposals: int = 4
    novelty: float = 20.0
    lightest: float = 30.0
    budget: float = 2e6

    def propose(self, leaf: Leaf) -> Iterator[Proposal]:
        free, labels = leaf.free, leaf.labels
        if len(free) == 0:
            return
        scores = leaf.optima.score(leaf.cell)
        rival, apart = self._rival(leaf, scores, labels)
        known = self._known(leaf, scores, free, labels)
        chosen = self._best_candidates(
            leaf, np.logaddexp(known[:, 0], known[:, 1]) + entropies(leaf.q[free]), apart[free]
        )
        variables = free[chosen]
        warm = leaf.try_labels(variables, labels[variables])
        tried = np.maximum(warm, known[chosen])
        value = np.logaddexp(tried[:, 0], tried[:, 1])
        gain = leaf.log_z + np.log(np.expm1(np.maximum(value - leaf.log_z, 1e-12)))
        rival_value = rival + (np.log(self.novelty) if leaf.cell.constraints else np.inf)
        ranked = np.argsort(-value, kind="stable")
        if rival_value > gain.max():
            # cut where the rival is the best mode of its side, not where a single variable could flip instead
            gain = np.full(len(gain), rival_value)
            ranked = np.lexsort((-value, np.maximum(warm[:, 1] - rival, 0.0)))
            ranked = ranked[apart[variables[ranked]]]
        for k in ranked[: self.proposals]:
            constraint = Cardinality(variables[k : k + 1], labels[variables[k : k + 1]], 1)
            yield Proposal(constraint, score=float(gain[k]))

    def rival(self, leaf: Leaf) -> float:
        """The bound of the best other optimum of the whole field in a leaf, -inf if none is known."""
        return self._rival(leaf, leaf.optima.score(leaf.cell), leaf.labels)[0]

    def _best_candidates(self, leaf: Leaf, estimate: Floats, apart: NDArray[np.bool_]) -> Int64s:
        """The candidates to try: the best by an estimate, and half as many among those that separate a rival."""
        count = int(max(2, min(self.candidates, self.budget // (2 * leaf.q.size))))
        ranked = np.argsort(-estimate, kind="stable")
        return np.unique(np.concatenate([ranked[apart[ranked]][: count // 2], ranked[:count]]))

    def _rival(self, leaf: Leaf, scores: Floats, labels: Int64s) -> tuple[float, NDArray[np.bool_]]:
        """The best other optimum of the whole field in the cell, and the variables on which it differs."""
        optima = leaf.optima
        others = np.flatnonzero(optima.standing & (scores > np.maximum(optima.log_z - 1.0, leaf.log_z - self.lightest)))
        apart = optima.q[others[:, None], np.arange(len(labels)), labels] < 0.2
        distinct = apart.sum(1) >= leaf.fewest_changes
        if not distinct.any():
            return -np.inf, np.zeros(len(labels), bool)
        best = int(np.argmax(np.where(distinct, scores[others], -np.inf)))
        return float(scores[others[best]]), apart[best]

    def _known(self, leaf: Leaf, scores: Floats, variables: Int64s, labels: Int64s) -> Floats:
        """The best bounds known on both sides of each cut, (k, 2), from the optima already seen."""
        inside = scores > leaf.optima.log_z - 1.0
        agreement = leaf.optima.q[inside][:, variables, labels[variables]]
        sides = np.stack([agreement, 1.0 - agreement], axis=-1)
        if not inside.any():
            return np.full((len(variables), 2), -np.inf)
        return np.asarray((scores[inside, None, None] + np.log(np.maximum(sides, 1e-300))).max(0))
