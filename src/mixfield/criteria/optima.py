"""Every optimum seen so far: starting points for leaves, and rivals that a cut should separate."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mixfield.constraints.cell import Cell

Floats = NDArray[np.float64]


class Optima:
    """A pool of mean fields with their bounds; of those with the same labeling the best is kept.

    Attributes
    ----------
    q, log_z : (K, n, L) marginals and (K,) bounds.
    standing : (K,) whether they are optima of the whole field, which stay where they are without a clamp.
    """

    def __init__(self, n: int, n_labels: int, capacity: int = 0) -> None:
        self.q: Floats = np.empty((0, n, n_labels))
        self.log_z: Floats = np.empty(0)
        self.standing: NDArray[np.bool_] = np.empty(0, bool)
        self._capacity = capacity
        self._place: dict[bytes, int] = {}

    def add(self, q: Floats, log_z: Floats, *, standing: bool) -> None:
        """Add modes (K, n, L)."""
        fresh: list[int] = []
        known = len(self.log_z)
        for k, key in enumerate(label.tobytes() for label in q.argmax(-1).astype(np.int32)):
            at = self._place.setdefault(key, known + len(fresh))
            if at == known + len(fresh):
                fresh.append(k)
            elif at >= known:
                fresh[at - known] = max(fresh[at - known], k, key=lambda j: float(log_z[j]))
            else:
                self.standing[at] |= standing
                if log_z[k] > self.log_z[at]:
                    self.q[at], self.log_z[at] = q[k], log_z[k]
        self.q = np.concatenate([self.q, q[fresh]])
        self.log_z = np.concatenate([self.log_z, log_z[fresh]])
        self.standing = np.concatenate([self.standing, np.full(len(fresh), standing)])
        if len(self.log_z) > 2 * self._capacity:
            self._shrink()

    def is_standing(self, q: Floats) -> bool:
        """Whether an unclamped optimum with the labels of ``q`` (n, L) is known."""
        at = self._place.get(q.argmax(-1).astype(np.int32).tobytes())
        return at is not None and bool(self.standing[at])

    def _shrink(self) -> None:
        best = np.sort(np.argsort(-self.log_z, kind="stable")[: self._capacity])
        self.q, self.log_z, self.standing = self.q[best], self.log_z[best], self.standing[best]
        self._place = {label.tobytes(): at for at, label in enumerate(self.q.argmax(-1).astype(np.int32))}

    def score(self, cell: Cell) -> Floats:
        """(K,) value of each optimum as a start in ``cell``: its bound plus its log-mass there."""
        return self.log_z + np.maximum(cell.log_mass(self.q), -30.0)

    def best_for(self, cell: Cell, count: int) -> Floats:
        """The best starts for ``cell``, (<= count, n, L)."""
        return self.q[np.argsort(-self.score(cell), kind="stable")[:count]]
