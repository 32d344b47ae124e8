"""An energy of one's own with a solver of its own: spins that all agree with all others a little."""

from __future__ import annotations

import itertools

import numpy as np

from mixfield.solvers import Ascent, MeanFieldSolver


class CurieWeiss:
    """``E = -h . s - (J / n) sum_{i<j} s_i s_j`` with spins s = +1 (label 1) or -1 (label 0)."""

    n_labels = 2

    def __init__(self, field, coupling):
        self.field, self.coupling = np.asarray(field, float), coupling
        self.shape = self.field.shape

    def local_field(self, q):
        spins = q[:, 1] - q[:, 0]
        pull = self.field + self.coupling * (spins.sum() - spins) / len(spins)
        return np.stack([pull, -pull], axis=-1)

    def expected(self, q):
        spins = q[:, 1] - q[:, 0]
        return float(-(self.field @ spins) - self.coupling * (spins.sum() ** 2 - spins @ spins) / (2 * len(spins)))

    def of(self, x):
        return self.expected(np.eye(2)[np.asarray(x)])

    def log_z(self):
        """By enumeration."""
        return float(np.logaddexp.reduce([-self.of(x) for x in itertools.product((0, 1), repeat=len(self.field))]))


class CurieWeissSolver(MeanFieldSolver):
    """One spin after the other, with the sum of all spins at hand: n steps a sweep instead of n^2."""

    family = "curie_weiss"
    runs = 0

    def solve(self, q, tilt, *, temperature=1.0, tolerance=None, max_iterations=None):
        type(self).runs += 1
        tolerance = self.tolerance if tolerance is None else tolerance
        limit = self.max_iterations if max_iterations is None else max_iterations
        temperatures = np.full(len(q), temperature, float)
        runs = [self._sweep(q[k], tilt, k, temperatures[k], tolerance, limit) for k in range(len(q))]
        marginals, iterations, change = zip(*runs, strict=True)
        changes = np.array(change)
        return Ascent(np.stack(marginals), np.array(iterations, np.int32), changes, changes <= tolerance)

    def _sweep(self, q, tilt, mode, temperature, tolerance, limit):
        q, (field, coupling) = q.copy(), (self.energy.field, self.energy.coupling)
        bias, made, change = tilt.bias[tilt.bias_of[mode]], 0, np.inf
        assert not (tilt.counts and tilt.counts[mode]), "single-variable cuts are strict: they need no count potentials"
        total = float((q[:, 1] - q[:, 0]).sum())
        while made < limit and change > tolerance:
            made, change = made + 1, 0.0
            for i, before in enumerate(q.copy()):
                pull = field[i] + coupling * (total - (q[i, 1] - q[i, 0])) / len(q)
                costs = np.array([pull, -pull]) + bias[i]
                odds = np.exp((costs.min() - costs) / temperature)
                q[i] = odds / odds.sum()
                total += (q[i, 1] - q[i, 0]) - (before[1] - before[0])
                change = max(change, float(np.abs(q[i] - before).max()))
        return q, made, change
