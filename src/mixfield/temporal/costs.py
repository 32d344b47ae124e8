"""Costs of modes and of people, from posteriors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

Price = Callable[[Floats, Floats], Floats]


def posterior_price(weights: Floats, q: Floats) -> Floats:
    """(K,) -log m_k - sum_i log(1 - q_ki): minus the log-probability of mode k and of no occupied cell.

    With log((1 - q) / q) for each person, a frame costs -log(m_k Q_k(x)) for every mode k: modes are compared by the
    probability they give to the same people.  The second term does not depend on the tracks, so KSP can leave it out;
    it depends on the mode, so KSP* cannot.  Without it a mode gains log(q / (1 - q)) for each person that a track
    passes, and pays nothing for people that it asserts and no track passes.

    Parameters
    ----------
    weights : (K,) probabilities of the modes.
    q : (K, n) probabilities of presence, strictly between 0 and 1.
    """
    return np.asarray(-np.log(weights) - np.log1p(-q).sum(1))


def printed_price(weights: Floats, q: Floats) -> Floats:  # noqa: ARG001 (the paper's price does not depend on q)
    """(K,) log((1 - m_k) / m_k), as printed in the paper's appendix."""
    return np.asarray(np.log1p(-weights) - np.log(weights))


@dataclass(frozen=True, eq=False)
class ModeCosts:
    """The costs of KSP*; +inf for modes that a frame does not have.

    Attributes
    ----------
    mode : (T, K) cost of choosing each mode; the least of a frame is zero.
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
        """Cost of choosing one mode per frame."""
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
    price : cost of choosing each mode, from clipped weights and probabilities.
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
