"""Posteriors of people who walk, with questions that a single frame leaves open: the input of a tracker."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mixfield import _arrays
from mixfield.mixture.posterior import MixturePosterior
from mixfield.scene.ground import Ground
from mixfield.solvers.mode import Mode

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TRUTH = np.dtype([("frame", "i8"), ("identity", "i8"), ("x", "f8"), ("y", "f8")])
STEP = 0.7  # cells per frame
BORDER = 0.05  # share of the side of the ground that goals keep from its border
DETECTION_RATE, SHIFT_RATE = 0.95, 0.1  # of people who are not hidden: seen at all, seen in a neighbouring cell
NOISE_MEDIAN, NOISE_MAX = 1e-3, 0.3  # probability of empty cells
ABSENT = 0.01  # largest probability of a cell that a mode declares empty


@dataclass(frozen=True, eq=False)
class DoubtfulWalk:
    """Posteriors of people who walk over a ground plane, and the truth.

    Attributes
    ----------
    ground : the grid of cells.
    posteriors : one for each frame, over (rows, columns) with label 1 for occupied cells.
    truth : fields ``frame``, ``identity``, ``x``, ``y`` (metres), one record for each person in each frame.
    """

    ground: Ground
    posteriors: tuple[MixturePosterior, ...] = field(repr=False)
    truth: NDArray[np.void] = field(repr=False)


def doubtful_walk(
    frames: int = 80,
    *,
    shape: tuple[int, int] = (40, 40),
    cell: float = 0.5,
    people: int = 8,
    doubts: int = 2,
    clarity: float = 1.5,
    clamped: float = 1e-7,
    rng: int | np.random.Generator = 0,
) -> DoubtfulWalk:
    """People who walk from goal to goal, with the posteriors of an uncertain detector.

    Each frame has up to ``doubts`` open questions: whether a hidden person is there (the truth is yes), or whether a
    person is at an empty cell (the truth is no).  There is a mode for each combination of answers.  The log-odds of the
    true answer are normal with mean ``clarity**2 / 2`` and standard deviation ``clarity``, as for a calibrated
    detector; at 1.5 one in four more probable answers is wrong.

    Parameters
    ----------
    frames, people : their numbers.
    shape : rows and columns of the ground.
    cell : side of a cell in metres.
    doubts : largest number of questions in a frame.
    clarity : standard deviation of the log-odds.
    clamped : 1 - probability of a cell that a mode declares occupied, as a clamp gives it.
    rng : seed or generator.
    """
    _arrays.at_least("frames", frames, 1)
    _arrays.at_least("people", people, 0)
    _arrays.at_least("doubts", doubts, 0)
    generator = _arrays.generator(rng)
    cells = _walk(frames, people, np.array(shape, float), generator)
    posteriors = [
        _posterior(cells[:, t].astype(int), shape, doubts, clarity, clamped, generator) for t in range(frames)
    ]
    truth = np.zeros(frames * people, TRUTH)
    truth["frame"] = np.repeat(np.arange(frames), people)
    truth["identity"] = np.tile(np.arange(people), frames)
    truth["y"], truth["x"] = (cell * cells.transpose(2, 1, 0)).reshape(2, -1)
    return DoubtfulWalk(Ground(shape, cell), tuple(posteriors), truth)


def _walk(frames: int, people: int, size: Floats, rng: np.random.Generator) -> Floats:
    """(people, frames, 2) row and column: `STEP` cells a frame towards a goal, then to a new goal."""
    path = np.empty((people, frames, 2))
    position, goal = (rng.uniform(BORDER, 1 - BORDER, (2, people, 2))) * size
    for t in range(frames):
        arrived = np.linalg.norm(goal - position, axis=1) < 1.0
        goal[arrived] = rng.uniform(BORDER, 1 - BORDER, (int(arrived.sum()), 2)) * size
        direction = goal - position
        position = position + STEP * direction / np.maximum(np.linalg.norm(direction, axis=1, keepdims=True), 1e-9)
        path[:, t] = position
    return np.clip(path, 0.0, size - 1e-6)


def _posterior(
    cells: Ints, shape: tuple[int, int], doubts: int, clarity: float, clamped: float, rng: np.random.Generator
) -> MixturePosterior:
    """The posterior of a frame with people in ``cells`` (people, 2): a mode for each combination of answers."""
    q = np.minimum(NOISE_MEDIAN * np.exp(rng.normal(0.0, 1.5, shape)), NOISE_MAX)
    hidden = rng.permutation(len(cells))[: rng.integers(0, doubts + 1)] if len(cells) else np.zeros(0, int)
    _detect(q, cells, hidden, rng)
    empty = [rng.integers(0, shape) for _ in range(int(rng.integers(0, doubts - len(hidden) + 1)))]
    asked = [*cells[hidden], *empty]
    is_true = np.array([1.0] * len(hidden) + [-1.0] * len(empty))
    log_odds = is_true * rng.normal(clarity**2 / 2, clarity, len(asked))
    answers = itertools.product((True, False), repeat=len(asked))
    modes = [_mode(q, asked, log_odds, answer, clamped) for answer in answers]
    return MixturePosterior(tuple(sorted(modes, key=lambda mode: -mode.log_z)))


def _detect(q: Floats, cells: Ints, hidden: Ints, rng: np.random.Generator) -> None:
    """Set the probabilities ``q`` of the cells in which people who are not hidden are seen."""
    for p, position in enumerate(cells):
        if p not in hidden and rng.random() < DETECTION_RATE:
            shift = rng.integers(-1, 2, 2) * (rng.random() < SHIFT_RATE)
            seen = np.clip(position + shift, 0, np.array(q.shape) - 1)
            q[tuple(seen)] = 1.0 / (1.0 + np.exp(-rng.normal(4.0, 1.0)))


def _mode(q: Floats, asked: Sequence[Ints], log_odds: Floats, answers: Sequence[bool], clamped: float) -> Mode:
    """The mode in which each cell of ``asked`` is occupied or empty; its weight is the product of the odds."""
    occupied = q.copy()
    for cell, answer in zip(map(tuple, asked), answers, strict=True):
        occupied[cell] = 1.0 - clamped if answer else min(q[cell], ABSENT)
    log_weight = -sum(np.logaddexp(0.0, -o if answer else o) for o, answer in zip(log_odds, answers, strict=True))
    return Mode(np.stack([1.0 - occupied, occupied], axis=-1), float(log_weight))
