"""Where to cut, by looking at both children first: the default for graphs.

The bound log sum_k exp(A_k) is what a cut should raise, so candidates are tried and the best is made.  But a user asks
for *interpretations*: a cut that separates another free-standing optimum counts for more than one that refines a mode,
and the first cut of all goes between the two best of them.
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
    novelty : how many times its weight a new free-standing optimum counts, against the gain of a refinement.
    lightest : nats below the leaf's own mode down to which an optimum is a rival at all.
    budget : numbers per batch of trials; large fields try fewer candidates.
    """

    candidates: int = 24
    proposals: int = 4
    novelty: float = 20.0
    lightest: float = 30.0
    budget: float = 2e6

    def propose(self, leaf: Leaf) -> Iterator[Proposal]:
        free, labels = leaf.free, leaf.q.argmax(1)
        if len(free) == 0:
            return
        inside = leaf.optima.promise(leaf.cell)
        rival, apart = self._rival(leaf, inside, labels)
        known = self._known(leaf, inside, free, labels)
        chosen = self._promising(leaf, np.logaddexp(known[:, 0], known[:, 1]) + entropies(leaf.q[free]), apart[free])
        variables = free[chosen]
        warm = leaf.try_labels(variables, labels[variables])
        tried = np.maximum(warm, known[chosen])
        value = np.logaddexp(tried[:, 0], tried[:, 1])
        gain = leaf.log_z + np.log(np.expm1(np.maximum(value - leaf.log_z, 1e-12)))
        worth = rival + (np.log(self.novelty) if leaf.cell.constraints else np.inf)
        ranked = np.argsort(-value, kind="stable")
        if worth > gain.max():
            # cut where the rival is the best of its side, not where a lone variable could turn instead of it
            gain = np.full(len(gain), worth)
            ranked = np.lexsort((-value, np.maximum(warm[:, 1] - rival, 0.0)))
            ranked = ranked[apart[variables[ranked]]]
        for k in ranked[: self.proposals]:
            constraint = Cardinality(variables[k : k + 1], labels[variables[k : k + 1]], 1)
            yield Proposal(constraint, score=float(gain[k]))

    def _promising(self, leaf: Leaf, hope: Floats, apart: NDArray[np.bool_]) -> Int64s:
        """The candidates to try: the most hopeful, and half of them among those that set a rival apart."""
        count = int(max(2, min(self.candidates, self.budget // (2 * leaf.q.size))))
        ranked = np.argsort(-hope, kind="stable")
        return np.unique(np.concatenate([ranked[apart[ranked]][: count // 2], ranked[:count]]))

    def _rival(self, leaf: Leaf, inside: Floats, labels: Int64s) -> tuple[float, NDArray[np.bool_]]:
        """The heaviest other free-standing optimum in the cell, and the variables on which it differs."""
        optima = leaf.optima
        sure = optima.q[:, np.arange(len(labels)), labels]  # how much each optimum agrees with this mode
        other = optima.standing & ((sure < 0.2).sum(1) >= 1) & (inside > optima.log_z - 1.0)
        other &= inside > leaf.log_z - self.lightest
        if not other.any():
            return -np.inf, np.zeros(len(labels), bool)
        best = int(np.argmax(np.where(other, inside, -np.inf)))
        return float(inside[best]), sure[best] < 0.2

    def _known(self, leaf: Leaf, inside: Floats, variables: Int64s, labels: Int64s) -> Floats:
        """The best bounds known on both sides of each cut, (k, 2), from the optima already seen."""
        here = inside > leaf.optima.log_z - 1.0
        sure = leaf.optima.q[here][:, variables, labels[variables]]
        sides = np.stack([sure, 1.0 - sure], axis=-1)
        if not here.any():
            return np.full((len(variables), 2), -np.inf)
        return np.asarray((inside[here, None, None] + np.log(np.maximum(sides, 1e-300))).max(0))
