"""Posteriors of people who walk, with doubts that one image cannot settle: what a tracker gets from a detector."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixfield import _arrays
from mixfield.mixture.posterior import MixturePosterior
from mixfield.scene.ground import Ground
from mixfield.solvers.mode import Mode


@dataclass(frozen=True, eq=False)
class DoubtfulWalk:
    """Posteriors of people who walk over a ground plane, and the truth.

    Attributes
    ----------
    ground : the grid of cells.
    posteriors : one for each frame, over (rows, columns) with label 1 for "somebody stands here".
    truth : fields ``frame``, ``identity``, ``x``, ``y`` (metres), one record for each person in each frame.
    """

    ground: Ground
    posteriors: tuple[MixturePosterior, ...]
    truth: NDArray[np.void]


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
    """People who walk from goal to goal, as a detector with doubts would see them.

    In each frame there are up to ``doubts`` questions that one image cannot settle: is a certain person there (he is,
    but hides behind another), is there somebody at a certain place (nobody is).  Each question has two answers, so
    there are 2, 4, ... modes.  The log-odds of the true answer are normal with mean ``clarity**2 / 2`` and deviation
    ``clarity``, which is what a calibrated detector sees; one in four first answers is wrong at 1.5.

    Parameters
    ----------
    frames, people : how many.
    shape, cell : of the ground: rows and columns, metres.
    doubts : most questions in one frame.
    clarity : how much the evidence says about them.
    clamped : distance from certainty of a person that a mode asserts, as a clamp does.
    rng : seed or generator.
    """
    _arrays.at_least("frames", frames, 1)
    _arrays.at_least("people", people, 0)
    _arrays.at_least("doubts", doubts, 0)
    generator = _arrays.generator(rng)
    ground = Ground(shape, cell)
    places = _walk(frames, people, np.array(shape, float), generator)
    sights = [_see(places[:, t].astype(int), shape, doubts, clarity, clamped, generator) for t in range(frames)]
    truth = np.zeros(frames * people, [("frame", "i8"), ("identity", "i8"), ("x", "f8"), ("y", "f8")])
    truth["frame"] = np.repeat(np.arange(frames), people)
    truth["identity"] = np.tile(np.arange(people), frames)
    truth["y"], truth["x"] = (cell * places.transpose(2, 1, 0)).reshape(2, -1)
    return DoubtfulWalk(ground, tuple(sights), truth)


def _walk(frames: int, people: int, size: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """(people, frames, 2) rows and columns, in cells: 0.7 cells a frame towards a goal, then another goal."""
    places = np.empty((people, frames, 2))
    here, goal = (rng.uniform(0.05, 0.95, (2, people, 2))) * size
    for t in range(frames):
        far = np.linalg.norm(goal - here, axis=1)
        arrived = far < 1.0
        goal[arrived] = rng.uniform(0.05, 0.95, (int(arrived.sum()), 2)) * size
        step = goal - here
        here = here + 0.7 * step / np.maximum(np.linalg.norm(step, axis=1, keepdims=True), 1e-9)
        places[:, t] = here
    return np.clip(places, 0.0, size - 1e-6)


def _see(
    places: NDArray[np.int64],
    shape: tuple[int, int],
    doubts: int,
    clarity: float,
    clamped: float,
    rng: np.random.Generator,
) -> MixturePosterior:
    """The posterior of one frame: noise, a bright cell for each person seen, and a mode for each set of answers."""
    q = np.minimum(1e-3 * np.exp(rng.normal(0.0, 1.5, shape)), 0.3)
    hidden = rng.permutation(len(places))[: rng.integers(0, doubts + 1)] if len(places) else np.zeros(0, int)
    for p, (row, column) in enumerate(places):
        if p not in hidden and rng.random() < 0.95:
            aside = rng.integers(-1, 2, 2) * (rng.random() < 0.1)
            seen = np.clip(np.array([row, column]) + aside, 0, np.array(shape) - 1)
            q[tuple(seen)] = 1.0 / (1.0 + np.exp(-rng.normal(4.0, 1.0)))
    ghosts = [rng.integers(0, shape) for _ in range(int(rng.integers(0, doubts - len(hidden) + 1)))]
    asked = [*places[hidden], *ghosts]
    odds = np.array([1.0] * len(hidden) + [-1.0] * len(ghosts)) * rng.normal(clarity**2 / 2, clarity, len(asked))
    modes = []
    for answers in itertools.product((True, False), repeat=len(asked)):
        field = q.copy()
        for place, answer in zip(asked, answers, strict=True):
            field[tuple(place)] = 1.0 - clamped if answer else min(q[tuple(place)], 0.01)
        log_weight = -sum(np.logaddexp(0.0, -o if answer else o) for o, answer in zip(odds, answers, strict=True))
        modes.append(Mode(np.stack([1.0 - field, field], axis=-1), float(log_weight)))
    return MixturePosterior(tuple(sorted(modes, key=lambda mode: -mode.log_z)))
