"""KSP* on long sequences: overlapping time windows, each continuing the tracks of the one before.

A window is solved with ``overlap`` frames of look-ahead, which the next window solves again.  Tracks that cross the
boundary between two segments must continue.  The bound of the whole is the sum of the bounds of its segments: a track
that crosses a boundary at cell i is credited p_i on one side and pays it on the other, which is a relaxation for any p,
and a tight one if p are the dual prices of a flow that looks ahead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from mixfield import _arrays
from mixfield.errors import MixfieldError
from mixfield.temporal.choice import ModeChoice, Path, choose_modes
from mixfield.temporal.costs import FrameCosts, ModeCosts, stack
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


def choose_in_windows(
    frames: Iterable[FrameCosts],
    motion: Motion,
    *,
    windows: Windows = Windows(),
    time_limit: float = 60.0,
    progress: Callable[[int], object] | None = None,
) -> Iterator[Segment]:
    """KSP* on any number of frames, of which no more than a window is in memory.

    Parameters
    ----------
    frames : costs of the modes (K,) and of the cells (K, n) of each frame.
    motion : how people move, enter and leave.
    windows : how the sequence is cut.
    time_limit : seconds for each window.
    progress : called with the number of frames solved.
    """
    source = iter(frames)
    window = list(islice(source, windows.length + 1))
    boundary = _Boundary.start(motion)
    while window:
        last = len(window) <= windows.length
        kept = len(window) if last else windows.length - windows.overlap
        segment, boundary = _solve(window[: windows.length], kept, last, motion, boundary, time_limit)
        yield segment
        if progress is not None:
            progress(boundary.frame)
        window = window[kept:] + list(islice(source, kept))


def _solve(
    window: list[FrameCosts], kept: int, last: bool, motion: Motion, boundary: _Boundary, time_limit: float
) -> tuple[Segment, _Boundary]:
    """Solve one window and keep its first frames."""
    costs = stack(window)
    if boundary.frame == 0:
        choice = choose_modes(costs, motion, time_limit=time_limit)
    else:
        choice = _continue_tracks(costs, motion, boundary, time_limit)
    paths, alive, identities = _identify(choice, boundary, kept)
    price, bound = _bound(costs, choice.multipliers, kept, last, motion, boundary)
    if boundary.frame == 0 and last:
        bound = max(bound, choice.bound)
    cost = _cost(costs, choice.modes[:kept], paths, motion, boundary)
    segment = Segment(boundary.frame, choice.modes[:kept], paths, cost, bound)
    return segment, _Boundary(boundary.frame + kept, alive, price, identities)


def _continue_tracks(costs: ModeCosts, motion: Motion, boundary: _Boundary, time_limit: float) -> ModeChoice:
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
    largest = np.abs(np.where(np.isfinite(costs.cell), costs.cell, 0.0)).max((1, 2)) + motion.step_cost.max()
    reward = 1.0 + 2.0 * largest.sum()
    first = np.full(motion.n, np.inf)
    first[cells] = -reward
    choice = choose_modes(extended, motion, Ends(first, np.zeros(motion.n)), time_limit=time_limit)
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
