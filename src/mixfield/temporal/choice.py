"""KSP*: one mode per frame and the tracks through them, with a certificate."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mixfield.temporal import search
from mixfield.temporal.branching import branch
from mixfield.temporal.costs import ModeCosts
from mixfield.temporal.relaxation import Piece
from mixfield.temporal.timegrid import Ends, Motion

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
    """An answer of KSP* and its certificate.

    Attributes
    ----------
    modes : (T,) the mode of each frame.
    paths : the tracks.
    cost : of modes and tracks.
    bound : no answer on any cells costs less.
    pieces : of all choices, each with multipliers that prove nearly as much by one flow (see `lower_bound`).
    """

    modes: Ints
    paths: tuple[Path, ...]
    cost: float
    bound: float
    pieces: tuple[Piece, ...] = field(repr=False)


def choose_modes(
    costs: ModeCosts, motion: Motion, ends: Ends | None = None, *, time_limit: float = 60.0, tolerance: float = 1e-3
) -> ModeChoice:
    """One mode per frame and disjoint paths through the cells, of least total cost.

    Parameters
    ----------
    costs : of modes and of people.
    motion : how people move, come and go.
    ends : where tracks may begin in the first and end in the last frame; anywhere if not given.
    time_limit : seconds, after which the best answer so far comes back with its bound.
    tolerance : part of the cost; a proof that comes as near as this is not sought to be better.
    """
    state = search.start(costs, motion, ends or Ends.open(motion), time.monotonic() + time_limit)
    state = search.relax(state)
    for step in (search.flip, search.integer):
        if not state.proven:
            before, state = state, step(state)
            state = state if (state.allowed == before.allowed).all() else search.relax(state)
    state, certificate = branch(state, tolerance)
    grid = state.grid
    paths = tuple(Path(int(grid.frame[nodes[0]]), grid.cell[nodes]) for nodes in state.flow.paths())
    return ModeChoice(state.modes, paths, state.cost, certificate.bound, certificate.pieces)
