"""Updates of some pixels of a dense field, while all others stay fixed.

The updates are accelerated (Nesterov, 1983): each begins at a point extrapolated from the last two,

    y_k = x_k + (k - 1) / (k + 2) (x_k - x_(k-1)),   x_(k+1) = softmax[(support(y_k) - U) / T].

That may overshoot, so the free energy at the end is compared with that at the beginning.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixfield.filters.bank import subset_support
from mixfield.solvers.dense_update import DenseUpdate, Movers, bound_terms, update_pixels

Floats = NDArray[np.float64]
Float32s = NDArray[np.float32]


@dataclass(frozen=True)
class SubsetRun:
    """The end of some updates: values (p, C), the rise of cost and entropy (K,), and the number of updates."""

    values: Float32s
    cost: Floats
    entropy: Floats
    updates: int


class SubsetUpdate:
    """Updates of some pixels, all others fixed: their support changes by what they give each other.

    Parameters
    ----------
    update : of the whole field.
    modes : (K,) those to be updated.
    movers : the pixels, with the channels of these modes.
    beta : (K,) 1 / T of these modes.
    """

    def __init__(self, update: DenseUpdate, modes: NDArray[np.intp], movers: Movers, beta: Float32s) -> None:
        crf, points = update.crf, movers.points
        self._layout, self._movers, self._beta = update.layout.of(len(modes)), movers, beta
        self._filter = subset_support(
            [coupling.filter for coupling in crf.couplings],
            [coupling.compatibility for coupling in crf.couplings],
            points,
            len(modes),
            update.threads,
        )
        self._costs, self._total_support = crf.costs[points], update.total_support[0][points]
        bias = update.bias[points].reshape(len(points), -1, update.n_modes)  # (p, L or 0, all modes)
        self._bias = bias.take(modes, 2).reshape(len(points), -1)

    def support(self, values: Float32s) -> Float32s:
        """(p, C) the support where the pixels have these values."""
        return np.asarray(self._movers.support + self._filter(values - self._movers.before))

    def step(self, values: Float32s, support: Float32s) -> tuple[Float32s, Floats]:
        """New values (p, C) and (K,) the largest changes, given the support at ``values``."""
        new = np.zeros_like(values)
        _, change = update_pixels(
            self._costs, self._bias, self._total_support, support, values, self._layout, self._beta, (0, len(new)), new
        )
        return new, change

    def run(self, values: Float32s, tolerance: Floats, most: int) -> SubsetRun:
        """At ``most`` so many updates, until the last changes no mode by its ``tolerance`` (K,).

        Modes whose free energy would rise keep their values.
        """
        first_support = support = self.support(values)
        last = at = values
        for made in range(1, most + 1):
            new, change = self.step(at, support)
            if made == most or (change < tolerance).all():
                break
            at = new + np.float32((made - 1) / (made + 2)) * (new - last)
            support, last = self.support(at), new
        rise = self._terms(new, self.support(new)) - self._terms(values, first_support)
        risen = rise[0] - rise[1] / self._beta - rise[2] > 0.0  # F = cost - T H - pairs
        back = self._layout.channels(np.flatnonzero(risen))
        new[:, back], rise[:, risen] = values[:, back], 0.0
        return SubsetRun(new, rise[0], rise[1], made)

    def _terms(self, values: Float32s, support: Float32s) -> Floats:
        """(3, K) cost, entropy and ``q (K b) + 1/2 d (K d)`` (+ constant): b the values before, d = q - b."""
        movers, pixels = self._movers, (0, len(values))

        def terms(q: Float32s, at: Float32s) -> Floats:
            return bound_terms(self._costs, self._total_support, at, q, self._layout, pixels, bias=self._bias)

        given, cost, information = terms(values, support)
        pairs = 0.5 * (given + terms(values, movers.support)[0] - terms(movers.before, support)[0])
        return np.stack([cost, -information, pairs])
