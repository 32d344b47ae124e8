"""KSP* on long sequences: overlapping windows, each beginning where the tracks of the one before stand.

A window is solved with a look ahead of ``overlap`` frames, of which nothing is kept.  The tracks that cross the seam
must go on.  The bound of the whole is the sum of the bounds of its segments: a track that crosses a seam at cell i gets
a price p_i on one side and pays it on the other, which is a relaxation whatever the prices, and a tight one if they are
the dual prices of a flow that looks ahead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from mixfield import _arrays
from mixfield.errors import MixfieldError
from mixfield.temporal.choice import ModeChoice, Path, choose_modes
from mixfield.temporal.costs import FrameCosts, ModeCosts, stack
from mixfield.temporal.relaxation import LowerBound, Piece, lower_bound
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
    """The part of an answer that one window settles.

    Attributes
    ----------
    first : its first frame.
    modes : (frames,) the mode of each.
    paths : tracks in it, by identity; the identity of a track is the same in all segments.
    cost, bound : its share of the cost and of the lower bound of the whole.
    """

    first: int
    modes: Ints
    paths: dict[int, Path]
    cost: float
    bound: float


@dataclass(frozen=True, eq=False)
class _Seam:
    """The end of a segment: who goes on, from which cell; the price of arriving at each cell of the next frame."""

    frame: int
    alive: dict[int, int]
    price: Floats
    identities: int


def choose_in_windows(
    frames: Iterable[FrameCosts],
    motion: Motion,
    *,
    windows: Windows = Windows(),
    time_limit: float = 60.0,
    progress: Callable[[int], object] | None = None,
) -> Iterator[Segment]:
    """KSP* on any number of frames, of which no more than a window is held at a time.

    Parameters
    ----------
    frames : prices of the modes (K,) and costs of the cells (K, n) of each frame.
    motion : how people move, come and go.
    windows : how the sequence is cut.
    time_limit : seconds for each window.
    progress : is told how many frames are settled.
    """
    source = iter(frames)
    held = list(islice(source, windows.length + 1))
    seam: _Seam | None = None
    while held:
        last = len(held) <= windows.length
        window = held[: windows.length]
        kept = len(window) if last else windows.length - windows.overlap
        segment, seam = _settle(window, kept, last, motion, seam, time_limit)
        yield segment
        if progress is not None:
            progress(seam.frame)
        held = held[kept:] + list(islice(source, kept))
        if last:
            return


def _settle(
    window: list[FrameCosts], kept: int, last: bool, motion: Motion, seam: _Seam | None, time_limit: float
) -> tuple[Segment, _Seam]:
    """Solve one window and keep its first frames."""
    costs = stack(window)
    if seam is None:
        seam = _Seam(0, {}, np.full(motion.n, motion.entry_cost), 0)
        choice = choose_modes(costs, motion, time_limit=time_limit)
    else:
        choice = _pinned(costs, motion, seam, time_limit)
    paths, alive, identities = _continue(choice, seam, kept)
    price, bound = _certify(costs, choice.pieces, kept, last, motion, seam)
    if seam.frame == 0 and last:
        bound = max(bound, choice.bound)
    begun = sum(identity >= seam.identities for identity in paths)
    people = sum(
        float(costs.chosen(choice.modes)[path.frames - seam.frame, path.cells].sum()) for path in paths.values()
    )
    cost = float(costs.mode[np.arange(kept), choice.modes[:kept]].sum()) + begun * motion.entry_cost + people
    segment = Segment(seam.frame, choice.modes[:kept], paths, cost, bound)
    return segment, _Seam(seam.frame + kept, alive, price, identities)


def _pinned(costs: ModeCosts, motion: Motion, seam: _Seam, time_limit: float) -> ModeChoice:
    """The choice for a window whose tracks stand at given cells the frame before; that frame is cut off again.

    They begin there for a reward that no way onwards can cost, so all of them do.
    """
    cells = np.array(sorted(seam.alive), np.int64)
    standing = np.full((costs.mode.shape[1], motion.n), np.inf)
    standing[0, cells] = 0.0
    price = np.where(np.arange(costs.mode.shape[1]) == 0, 0.0, np.inf)
    extended = ModeCosts(np.concatenate([price[None], costs.mode]), np.concatenate([standing[None], costs.cell]))
    force = 1.0 + 2.0 * np.abs(np.where(np.isfinite(costs.cell), costs.cell, 0.0)).max((1, 2)).sum()
    first = np.full(motion.n, np.inf)
    first[cells] = -force
    choice = choose_modes(extended, motion, Ends(first, np.zeros(motion.n)), time_limit=time_limit)
    paths = tuple(Path(path.first - 1, path.cells) for path in choice.paths)
    rest = (choice.cost + force * len(cells), choice.bound + force * len(cells))
    return ModeChoice(choice.modes[1:], paths, *rest, tuple(piece.after(1) for piece in choice.pieces))


def _continue(choice: ModeChoice, seam: _Seam, kept: int) -> tuple[dict[int, Path], dict[int, int], int]:
    """The kept part of the tracks by identity, who goes on from which cell, and the number of identities so far."""
    paths, alive, identities = {}, {}, seam.identities
    for path in choice.paths:
        if path.first < 0:
            identity = seam.alive[int(path.cells[0])]
            path = Path(0, path.cells[1:])
        elif path.first < kept:
            identity, identities = identities, identities + 1
        else:
            continue
        length = kept - path.first
        if len(path.cells) > length:
            alive[int(path.cells[length - 1])] = identity
        if len(path.cells):
            paths[identity] = Path(seam.frame + path.first, path.cells[:length])
    return paths, alive, identities


def _certify(
    costs: ModeCosts, pieces: Sequence[Piece], kept: int, last: bool, motion: Motion, seam: _Seam
) -> tuple[Floats, float]:
    """The prices at the next seam, and the bound of the segment between the prices at its ends."""
    nothing = np.zeros(motion.n)

    def between(frames: slice, end: Floats) -> list[LowerBound]:
        part = ModeCosts(costs.mode[frames], costs.cell[frames])
        grid = unroll_all(len(part.mode), motion, Ends(seam.price, end))
        told = [piece.part(frames) for piece in pieces]
        return [lower_bound(part, grid, multipliers, allowed) for allowed, multipliers in told]

    ahead = between(slice(None), nothing)
    if last:
        return nothing, min(proof.value for proof in ahead)
    price = min(ahead, key=lambda proof: proof.value).price[kept]
    price = np.where(np.isfinite(price), price, price[np.isfinite(price)].max(initial=0.0))
    dearest = np.append(price, -np.inf)[motion.neighbours].max(1)
    return price, min(proof.value for proof in between(slice(0, kept), -dearest))
