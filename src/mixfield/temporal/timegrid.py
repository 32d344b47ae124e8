"""The time-expanded grid: a node for each cell of each frame, arcs to the cells within reach in the next frame."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mixfield import _arrays
from mixfield.errors import MixfieldError
from mixfield.temporal.graph import PathGraph

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

TOLERANCE = 1e-9  # cells by which rounding may lengthen a step


@dataclass(frozen=True, eq=False)
class Motion:
    """How people move, and where they enter and leave.

    Attributes
    ----------
    shape : rows and columns of the grid.
    radius : cells that a person moves at most from one frame to the next, along each axis.
    reach : cells that a person moves at most in any direction, infinite for all cells within ``radius``.  The eight
        cells around a cell are always within reach.
    sigma : standard deviation of a step along each axis, in cells; a step over d cells costs d^2 / 2 sigma^2.
    prior : probability of an occupied cell that the costs of cells contain.  A person who was in reach a frame ago is
        more probable than that, so a step over d cells costs -log p(d) + log(prior / (1 - prior)): it replaces the
        prior of the cell by the probability p(d), proportional to exp(-d^2 / 2 sigma^2), of the step.  None as in the
        article, where cells of successive frames are independent.
    doors : (rows, columns) cells where tracks may begin and end in any frame; in the first and last frame all cells.
    entry_cost : cost of each track, paid where it begins; 0 in the article, 45 in its authors' program.
    """

    shape: tuple[int, int]
    radius: int = 1
    doors: Bools = field(default_factory=lambda: np.zeros((0, 0), bool))
    entry_cost: float = 0.0
    reach: float = np.inf
    sigma: float = np.inf
    prior: float | None = None

    def __post_init__(self) -> None:
        _arrays.at_least("radius", self.radius, 1)
        doors = np.asarray(self.doors)
        if doors.size == 0:
            doors = np.zeros(self.shape, bool)
        if doors.dtype != bool:
            raise MixfieldError(f"doors must be an array of True and False, got dtype {doors.dtype}")
        _arrays.check_shape("doors", doors, self.shape, "to match the ground")
        object.__setattr__(self, "doors", _arrays.frozen(doors.copy()))
        if not (np.isfinite(self.entry_cost) and self.entry_cost >= 0):
            raise MixfieldError(f"entry_cost must be a finite number >= 0, got {self.entry_cost!r}")
        for name, value in (("reach", self.reach), ("sigma", self.sigma)):
            if not value > 0:
                raise MixfieldError(f"{name} must be a number of cells above 0, got {value!r}")
        if self.prior is not None and not 0 < self.prior < 1:
            raise MixfieldError(f"prior must be a probability between 0 and 1, got {self.prior!r}")

    @property
    def n(self) -> int:
        """Number of cells."""
        return self.shape[0] * self.shape[1]

    @cached_property
    def steps(self) -> Ints:
        """(S, 2) rows and columns of the possible steps, by row and then by column."""
        along = np.arange(-self.radius, self.radius + 1)
        steps = np.stack(np.meshgrid(along, along, indexing="ij"), axis=-1).reshape(-1, 2)
        near = (np.abs(steps) <= 1).all(1)
        return np.asarray(steps[near | (np.hypot(*steps.T) <= self.reach + TOLERANCE)])

    @property
    def longest(self) -> float:
        """Length of the longest step within ``reach``, or of ``radius`` if that is not limited, in cells."""
        return self.radius if np.isinf(self.reach) else float(np.hypot(*self.steps.T).max())

    @cached_property
    def step_cost(self) -> Floats:
        """(S,) cost of each of the ``steps``: d^2 / 2 sigma^2, and with a prior what every step costs."""
        return self._squared(self.steps) + self._any_step

    @cached_property
    def _any_step(self) -> float:
        """log sum_steps exp(-d^2 / 2 sigma^2) + log(prior / (1 - prior)); 0 without a prior."""
        if self.prior is None:
            return 0.0
        return float(np.log(np.exp(-self._squared(self.steps)).sum()) + np.log(self.prior) - np.log1p(-self.prior))

    def _squared(self, steps: Ints) -> Floats:
        """(S,) d^2 / 2 sigma^2 of steps (S, 2)."""
        return np.asarray((steps**2).sum(1) / (2.0 * self.sigma**2))

    @cached_property
    def neighbours(self) -> Ints:
        """(n, S) the cell after each of the ``steps`` from each cell, -1 beyond the grid."""
        rows, columns = self.shape
        row = np.arange(rows)[:, None, None] + self.steps[:, 0]
        column = np.arange(columns)[None, :, None] + self.steps[:, 1]
        inside = (row >= 0) & (row < rows) & (column >= 0) & (column < columns)
        return np.where(inside, row * columns + column, -1).reshape(self.n, -1)

    def cost_of(self, cells: Ints) -> float:
        """Cost of the steps along a path of cells."""
        steps = np.diff(np.stack(np.divmod(cells, self.shape[1]), axis=1), axis=0)
        return float((self._squared(steps) + self._any_step).sum())

    def widen(self, cells: Bools) -> Bools:
        """Cells (..., n) within reach of the marked ones."""
        found = np.concatenate([cells, np.zeros((*cells.shape[:-1], 1), bool)], axis=-1)[..., self.neighbours]
        return np.asarray(found.any(-1))


@dataclass(frozen=True, eq=False)
class TimeGrid:
    """The nodes and the graph of the steps between them.

    Attributes
    ----------
    frame, cell : (nodes,) of each node, by frame and then by cell.
    graph : entries, exits and arcs.
    """

    frame: Ints
    cell: Ints
    graph: PathGraph


@dataclass(frozen=True, eq=False)
class Ends:
    """Cost of beginning a track in the first frame and of ending it in the last, +inf where only doors allow it.

    Attributes
    ----------
    first, last : (n,) costs.
    """

    first: Floats
    last: Floats

    @staticmethod
    def open(motion: Motion) -> Ends:
        """The ends of a whole sequence: tracks begin (at ``entry_cost``) and end at any cell."""
        return Ends(np.full(motion.n, motion.entry_cost), np.zeros(motion.n))


def unroll(active: Bools, motion: Motion, ends: Ends) -> TimeGrid:
    """The time grid of the ``active`` cells (T, n)."""
    T, n = active.shape
    frame, cell = (part.astype(np.int64) for part in np.nonzero(active))
    number = np.full((T, n + 1), -1, np.int64)  # index -1, beyond the grid, finds the last column
    number[frame, cell] = np.arange(len(frame))
    later = frame > 0
    tails = np.full((len(frame), motion.neighbours.shape[1]), -1, np.int64)
    tails[later] = number[frame[later, None] - 1, motion.neighbours[cell[later]]]
    exists = tails >= 0
    start = _arrays.starts(exists.sum(1))
    arc_cost = np.broadcast_to(motion.step_cost, exists.shape)[exists]
    return _grid(T, frame, cell, start, tails[exists].astype(np.int32), arc_cost, motion, ends)


def unroll_all(frames: int, motion: Motion, ends: Ends) -> TimeGrid:
    """`unroll` with all cells of all frames, faster: the arcs of every step are those of the first, shifted."""
    exists = motion.neighbours >= 0
    tails, steps = motion.neighbours[exists].astype(np.int32), np.arange(frames - 1)[:, None]
    into = np.cumsum(exists.sum(1))
    start = np.concatenate([np.zeros(motion.n + 1, np.int64), (into + len(tails) * steps).ravel()])
    tail = (tails + (motion.n * steps).astype(np.int32)).ravel()
    arc_cost = np.tile(np.broadcast_to(motion.step_cost, exists.shape)[exists], frames - 1)
    cell = np.tile(np.arange(motion.n), frames)
    return _grid(frames, np.repeat(np.arange(frames), motion.n), cell, start, tail, arc_cost, motion, ends)


def _grid(
    frames: int,
    frame: Ints,
    cell: Ints,
    start: Ints,
    tail: NDArray[np.int32],
    arc_cost: Floats,
    motion: Motion,
    ends: Ends,
) -> TimeGrid:
    """The time grid with entry and exit costs."""
    doors = motion.doors.ravel()[cell]
    entry = np.where(doors, motion.entry_cost, np.inf)
    exit_ = np.where(doors, 0.0, np.inf)
    first, last = frame == 0, frame == frames - 1
    entry[first] = np.minimum(entry[first], ends.first[cell[first]])
    exit_[last] = np.minimum(exit_[last], ends.last[cell[last]])
    return TimeGrid(frame, cell, PathGraph(entry, exit_, start, tail, arc_cost, frame))
