"""KSP* on long sequences: overlapping time windows, each continuing the tracks of the one before.

A window is solved with ``overlap`` frames of look-ahead, which the next window solves again.  Tracks that cross the
boundary between two segments must continue.  The bound of the whole is the sum of the bounds of its segments: a track
that crosses a boundary at cell i is credited p_i on one side and pays it on the other, which is a relaxation for any p,
and a tight one if p are the dual prices of a flow that looks ahead.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixfield import _arrays
from mixfield.errors import MixfieldError
from mixfield.temporal.choice import ModeChoice, Path, choose_modes
from mixfield.temporal.costs import FrameCosts, ModeCosts, stack
from mixfield.temporal.program import NODES
from mixfield.temporal.relaxation import LowerBound, lower_bound
from mixfield.temporal.timegrid import Ends, Motion, unroll_all

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Windows:
    """How a long sequence is cut.

    Attributes
    ----------
    length : frames solved together.
    overlap : of those, frames that the next window solves again; at least one.
    """

    length: int = 100
    overlap: int = 25

    @staticmethod
    def of_lag(lag: int) -> Windows:
        """The windows in which no frame waits for more than ``lag`` others; a quarter of them is look-ahead."""
        _arrays.at_least("lag", lag, 2)
        return Windows(lag, max(1, lag // 4))

    def __post_init__(self) -> None:
        _arrays.at_least("length", self.length, 2)
        _arrays.at_least("overlap", self.overlap, 1)
        if self.overlap >= self.length:
            raise MixfieldError(f"overlap must be less than length = {self.length}, got {self.overlap}")


@dataclass(frozen=True, eq=False)
class Segment:
    """The part of an answer that one window contributes.

    Attributes
    ----------
    first : its first frame.
    modes : (frames,) the mode of each.
    paths : its tracks, by identity; a track has the same identity in all segments.
    cost, bound : its share of the cost and of the lower bound of the whole.
    """

    first: int
    modes: Ints
    paths: dict[int, Path]
    cost: float
    bound: float


@dataclass(frozen=True, eq=False)
class _Boundary:
    """The end of a segment.

    Attributes
    ----------
    frame : the first frame after it.
    alive : identities of the tracks that continue, by their last cell.
    price : (n,) p_i of arriving at each cell of ``frame``.
    identities : how many tracks there are so far.
    """

    frame: int
    alive: dict[int, int]
    price: Floats
    identities: int

    @staticmethod
    def start(motion: Motion) -> _Boundary:
        """The beginning of a sequence."""
        return _Boundary(0, {}, np.full(motion.n, motion.entry_cost), 0)


@dataclass(frozen=True)
class Limits:
    """How much work the solution of a window may take.

    Attributes
    ----------
    nodes : of branch and bound, for each integer program.
    seconds : after which the best answer so far is used; then the answer depends on the load of the machine.
    """

    nodes: int = NODES
    seconds: float = math.inf

    def __post_init__(self) -> None:
        _arrays.at_least("nodes", self.nodes, 1)
        if not self.seconds > 0:
            raise MixfieldError(f"seconds must be positive, got {self.seconds!r}")


class WindowStream:
    """KSP* on any number of frames, given one by one; no more than a window of them is in memory.

    Parameters
    ----------
    motion : how people move, enter and leave.
    windows : how the sequence is cut.
    limits : of each window.
    """

    def __init__(self, motion: Motion, *, windows: Windows = Windows(), limits: Limits = Limits()) -> None:
        self._motion, self._windows, self._limits = motion, windows, limits
        self._boundary = _Boundary.start(motion)
        self._window: list[FrameCosts] = []

    def update(self, frame: FrameCosts) -> list[Segment]:
        """The segment that the costs of one more frame complete, if any."""
        self._window.append(frame)
        if len(self._window) <= self._windows.length:
            return []
        kept = self._windows.length - self._windows.overlap
        segment = self._solve(self._window[:-1], kept, last=False)
        del self._window[:kept]
        return [segment]

    def finish(self) -> list[Segment]:
        """The segment of the frames that are left, if any."""
        window, self._window = self._window, []
        return [self._solve(window, len(window), last=True)] if window else []

    def _solve(self, window: list[FrameCosts], kept: int, last: bool) -> Segment:
        """Solve one window and keep its first frames."""
        costs, motion, boundary, limits = stack(window), self._motion, self._boundary, self._limits
        if boundary.frame == 0:
            choice = choose_modes(costs, motion, nodes=limits.nodes, time_limit=limits.seconds)
        else:
            choice = _continue_tracks(costs, motion, boundary, limits)
        paths, alive, identities = _identify(choice, boundary, kept)
        price, bound = _bound(costs, choice.multipliers, kept, last, motion, boundary)
        if boundary.frame == 0 and last:
            bound = max(bound, choice.bound)
        cost = _cost(costs, choice.modes[:kept], paths, motion, boundary)
        self._boundary = _Boundary(boundary.frame + kept, alive, price, identities)
        return Segment(boundary.frame, choice.modes[:kept], paths, cost, bound)


def _continue_tracks(costs: ModeCosts, motion: Motion, boundary: _Boundary, limits: Limits) -> ModeChoice:
    """The choice for a window in which all tracks that are alive must continue.

    A frame with one mode is added in front, in which only their last cells can be passed.  A track that begins there
    earns more than any way onwards can cost, so all of them do.  The frame is removed again.
    """
    cells = np.array(sorted(boundary.alive), np.int64)
    K = costs.mode.shape[1]
    cell = np.full((K, motion.n), np.inf)
    cell[0, cells] = 0.0
    mode = np.where(np.arange(K) == 0, 0.0, np.inf)
    extended = ModeCosts(np.concatenate([mode[None], costs.mode]), np.concatenate([cell[None], costs.cell]))
    largest = np.abs(np.where(np.isfinite(costs.cell), costs.cell, 0.0)).max((1, 2)) + np.abs(motion.step_cost).max()
    reward = 1.0 + 2.0 * largest.sum()
    first = np.full(motion.n, np.inf)
    first[cells] = -reward
    ends = Ends(first, np.zeros(motion.n))
    choice = choose_modes(extended, motion, ends, nodes=limits.nodes, time_limit=limits.seconds)
    paths = tuple(Path(path.first - 1, path.cells) for path in choice.paths)
    earned = reward * len(cells)
    return ModeChoice(choice.modes[1:], paths, choice.cost + earned, choice.bound + earned, choice.multipliers[1:])


def _identify(choice: ModeChoice, boundary: _Boundary, kept: int) -> tuple[dict[int, Path], dict[int, int], int]:
    """The kept part of the tracks by identity, identities that continue by their last cell, and the new count."""
    paths, alive, identities = {}, {}, boundary.identities
    for path in choice.paths:
        if path.first < 0:
            identity = boundary.alive[int(path.cells[0])]
            path = Path(0, path.cells[1:])
        elif path.first < kept:
            identity, identities = identities, identities + 1
        else:
            continue
        length = kept - path.first
        if len(path.cells) > length:
            alive[int(path.cells[length - 1])] = identity
        if len(path.cells):
            paths[identity] = Path(boundary.frame + path.first, path.cells[:length])
    return paths, alive, identities


def _cost(costs: ModeCosts, modes: Ints, paths: dict[int, Path], motion: Motion, boundary: _Boundary) -> float:
    """Cost of a segment: its modes, its people, their steps, also those into it, and the tracks that begin in it."""
    cells, last_cell = costs.chosen(modes), {identity: cell for cell, identity in boundary.alive.items()}
    people = sum(float(cells[path.frames - boundary.frame, path.cells].sum()) for path in paths.values())
    before = {i: [last_cell[i]] if i in last_cell else [] for i in paths}
    steps = sum(motion.cost_of(np.array([*before[i], *path.cells], np.int64)) for i, path in paths.items())
    begun = sum(identity >= boundary.identities for identity in paths)
    return costs.price(modes) + begun * motion.entry_cost + people + steps


def _bound(
    costs: ModeCosts, multipliers: Floats, kept: int, last: bool, motion: Motion, boundary: _Boundary
) -> tuple[Floats, float]:
    """Prices (n,) at the next boundary, and the bound of the segment between the prices at its two ends."""

    def relaxed(frames: slice, end: Floats) -> LowerBound:
        part = ModeCosts(costs.mode[frames], costs.cell[frames])
        grid = unroll_all(len(part.mode), motion, Ends(boundary.price, end))
        return lower_bound(part, grid, multipliers[frames], part.allowed)

    free = np.zeros(motion.n)
    ahead = relaxed(slice(None), free)
    if last:
        return free, ahead.value
    price = ahead.arrival_potential[kept]
    price = np.where(np.isfinite(price), price, price[np.isfinite(price)].max(initial=0.0))
    highest = (np.append(price, -np.inf)[motion.neighbours] - motion.step_cost).max(1)
    return price, relaxed(slice(0, kept), -highest).value
