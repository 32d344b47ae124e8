"""KSP*: one mode per frame and the tracks through them, with a lower bound of the cost."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mixfield.temporal import search
from mixfield.temporal.costs import ModeCosts
from mixfield.temporal.program import NODES
from mixfield.temporal.timegrid import Ends, Motion

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Path:
    """One track: its first frame and its cells, frame after frame."""

    first: int
    cells: Ints

    @property
    def frames(self) -> Ints:
        """(length,) frames, without gaps."""
        return np.arange(self.first, self.first + len(self.cells))


@dataclass(frozen=True, eq=False)
class ModeChoice:
    """An answer of KSP* and its lower bound.

    Attributes
    ----------
    modes : (T,) the mode of each frame.
    paths : the tracks.
    cost : of modes and tracks.
    bound : no other answer costs less.
    multipliers : (T, K, n) of the best Lagrangian relaxation with all modes (see `relaxation.lower_bound`).
    """

    modes: Ints
    paths: tuple[Path, ...]
    cost: float
    bound: float
    multipliers: Floats = field(repr=False)


def choose_modes(
    costs: ModeCosts,
    motion: Motion,
    ends: Ends | None = None,
    *,
    nodes: int = NODES,
    time_limit: float = math.inf,
    tolerance: float = 1e-3,
) -> ModeChoice:
    """One mode per frame and node-disjoint paths through the cells, of least total cost.

    Parameters
    ----------
    costs : of modes and of people.
    motion : how people move, enter and leave.
    ends : where tracks may begin in the first and end in the last frame; by default anywhere.
    nodes : of branch and bound, after which an integer program returns its best answer.  A limit of work: the same
        input has the same answer, whatever else the machine does.
    time_limit : seconds, after which the best answer so far is returned with its bound; by default none.
    tolerance : relative gap at which the search for a better answer and bound stops.
    """
    state = search.initialize(costs, motion, ends or Ends.open(motion), nodes, time.monotonic() + time_limit)
    state = search.relax(state)
    if not state.proven:
        before, state = state, search.improve(state)
        state = state if (state.allowed == before.allowed).all() else search.relax(state)
    if state.gap > tolerance * abs(state.cost):
        state = search.certify(state)
    assert state.multipliers is not None
    grid = state.grid
    paths = tuple(Path(int(grid.frame[path[0]]), grid.cell[path]) for path in state.flow.paths())
    return ModeChoice(state.modes, paths, state.cost, state.bound, state.multipliers)
