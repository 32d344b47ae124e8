"""What modes and people cost: posteriors turned into prices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

Price = Callable[[Floats, Floats], Floats]


def posterior_price(weights: Floats, q: Floats) -> Floats:
    """(K,) -log m_k - sum_i log(1 - q_ki): minus the log-probability that mode k holds and nobody is there.

    With log((1 - q) / q) for each person on top, a frame costs -log(m_k Q_k(x)) whatever mode it chooses: modes are
    compared by the probability they give to the same people.  The second term does not depend on the tracks, and plain
    KSP may forget it; it depends on the mode, and KSP* may not: without it a mode earns up to log((1 - q) / q) for
    each person it asserts, and pays nothing for asserting people whom no track explains.

    Parameters
    ----------
    weights : (K,) probabilities of the modes.
    q : (K, n) probabilities of presence, strictly between 0 and 1.
    """
    return np.asarray(-np.log(weights) - np.log1p(-q).sum(1))


def printed_price(weights: Floats, q: Floats) -> Floats:  # noqa: ARG001 (the paper's price does not look at the map)
    """(K,) log((1 - m_k) / m_k), as printed in the paper's appendix."""
    return np.asarray(np.log1p(-weights) - np.log(weights))


@dataclass(frozen=True, eq=False)
class ModeCosts:
    """The costs of KSP*, frame by frame; +inf for modes that a frame does not have.

    Attributes
    ----------
    mode : (T, K) price of choosing each mode; the least of a frame is zero, so that nobody costs nothing.
    cell : (T, K, n) cost of a person at each cell, if the mode is chosen.
    """

    mode: Floats
    cell: Floats

    @property
    def allowed(self) -> NDArray[np.bool_]:
        """(T, K) modes that can be chosen."""
        return np.isfinite(self.mode)

    def chosen(self, modes: Ints) -> Floats:
        """(T, n) costs of people under one mode per frame."""
        return np.asarray(self.cell[np.arange(len(modes)), modes])

    def price(self, modes: Ints) -> float:
        """Price of one mode per frame."""
        return float(self.mode[np.arange(len(modes)), modes].sum())


@dataclass(frozen=True, eq=False)
class FrameCosts:
    """The costs of one frame: ``mode`` (K,) and ``cell`` (K, n), as in `ModeCosts`."""

    mode: Floats
    cell: Floats


def frame_costs(weights: Floats, q: Floats, *, clip: float = 1e-6, price: Price = posterior_price) -> FrameCosts:
    """Costs from the weights (K,) of the modes and their probabilities of presence (K, n).

    Parameters
    ----------
    clip : probabilities are kept at least this far from 0 and 1.
    price : of choosing a mode, from clipped weights and probabilities.
    """
    q = np.clip(q, clip, 1.0 - clip)
    prices = price(np.clip(weights, clip, 1.0 - clip), q)
    return FrameCosts(prices - prices.min(), np.log1p(-q) - np.log(q))


def stack(frames: Sequence[FrameCosts]) -> ModeCosts:
    """The costs of a sequence."""
    T, K, n = len(frames), max(len(frame.mode) for frame in frames), frames[0].cell.shape[1]
    mode, cell = np.full((T, K), np.inf), np.full((T, K, n), np.inf)
    for t, frame in enumerate(frames):
        mode[t, : len(frame.mode)], cell[t, : len(frame.mode)] = frame.mode, frame.cell
    return ModeCosts(mode, cell)
