"""Closing the gap: where the relaxation is torn between the modes of a frame, they are parted, and each part bounded.

Branch and bound, the part with the lowest bound first.  Every bound holds on all cells, so the lowest of them is one of
the whole, whatever cells take part.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from mixfield.temporal.relaxation import Piece
from mixfield.temporal.search import State, price

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

TORN = 1e-6  # fraction of other modes at which a frame is undecided


@dataclass(frozen=True, eq=False)
class Certificate:
    """A lower bound, and the pieces of the choices that it was proven for one by one; together they hold all."""

    bound: float
    pieces: tuple[Piece, ...]


def branch(state: State, tolerance: float) -> tuple[State, Certificate]:
    """Part the modes until the gap is below ``tolerance`` of the cost, or time is up; better answers may turn up."""
    assert state.proof is not None
    assert state.piece is not None
    number = itertools.count()
    known = state.bound
    leaves = [(-np.inf, next(number), state.piece, state.fractions)]
    while state.seconds > 0 and state.cost - max(known, leaves[0][0]) > tolerance * abs(state.cost):
        least, _, piece, fractions = leaves[0]
        assert fractions is not None
        torn = int(np.where(piece.allowed.sum(1) > 1, 1.0 - fractions.max(1), 0.0).argmax())
        if fractions[torn].max() > 1.0 - TORN:
            break
        heappop(leaves)
        for modes in _halves(piece.allowed, torn, int(fractions[torn].argmax())):
            child = price(replace(state, domain=modes, allowed=modes, proof=None, piece=None, fractions=None))
            state = replace(state, modes=child.modes, flow=child.flow, cost=child.cost, active=child.active)
            assert child.proof is not None
            assert child.piece is not None
            better = child.proof.value > least
            proven = child.piece if better else Piece(modes, piece.sparse)
            heappush(leaves, (max(least, child.proof.value), next(number), proven, child.fractions))
    bound = min(max(known, leaves[0][0]), state.cost)
    return state, Certificate(bound, tuple(piece for _, _, piece, _ in leaves))


def _halves(allowed: Bools, frame: int, mode: int) -> tuple[Bools, Bools]:
    """One mode of a frame, and the others."""
    one, others = allowed.copy(), allowed.copy()
    one[frame] = np.arange(allowed.shape[1]) == mode
    others[frame, mode] = False
    return one, others
