"""How far a view can be believed: its variance from its disagreement with the first view.

Calibrations are never exact, and the errors of one view contradict the others: people who stand where one view says
they stand would fit another view better somewhere else.  Let ``g_i`` be what a view would gain, in nats, if person i
stood where it fits this view best, within `REACH`.  If the view's psi were the negative log-likelihood of an unbiased
estimate of a position, g would be half a chi-square variable with two degrees of freedom, whose median is log 2.  So

    v_c <- v_c max(1, median_i(g_i) / log 2),

with the people that the first view finds alone.  Two views cannot tell which of them is wrong: the first is the
reference, whose calibration defines the ground.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield.energy.occupancy import Occupancy
from mixfield.scene.scene import Scene
from mixfield.solvers.mean_field import mean_field

Floats = NDArray[np.float64]

REACH = 1.0  # metres
FEWEST = 10  # people below which a view keeps its variance


def fit_noise(scene: Scene, frames: Sequence[Sequence[ArrayLike]]) -> Scene:
    """The scene with a variance for each view, from ``frames`` with one mask per view."""
    single = [scene.of_views((c,)) for c in range(len(scene.views))]
    scales = [one.scales[0] for one in single]
    people = [mean_field(Occupancy(single[0], masks[:1])).marginals[..., 1] > 0.5 for masks in frames]
    for c in range(1, len(single)):
        energies = (Occupancy(single[c], masks[c : c + 1]) for masks in frames)
        scales[c] *= _excess(energies, people, single[c])
    return replace(scene, variance=tuple(scales))


def _excess(energies: Iterable[Occupancy], people: Sequence[NDArray[np.bool_]], scene: Scene) -> float:
    """max(1, median(g) / log 2) of the people whom a view sees."""
    gains = [relocation_gains(energy, one, scene) for energy, one in zip(energies, people, strict=True)]
    found = np.concatenate([*gains, np.zeros(0)])
    return 1.0 if len(found) < FEWEST else max(1.0, float(np.median(found)) / math.log(2.0))


def relocation_gains(energy: Occupancy, people: NDArray[np.bool_], scene: Scene) -> Floats:
    """(k,) nats that each visible person of ``people`` (rows, columns) would gain at the best cell within `REACH`."""
    reach = int(REACH / scene.ground.cell)
    costs = relocation_costs(energy, people, scene, reach)
    steps = np.arange(-reach, reach + 1) * scene.ground.cell
    near = np.hypot(steps[:, None], steps) <= REACH
    return np.asarray(costs[:, reach, reach] - np.where(near, costs, np.inf).min((1, 2), initial=np.inf))


def relocation_costs(energy: Occupancy, people: NDArray[np.bool_], scene: Scene, reach: int) -> Floats:
    """(k, 2 reach + 1, 2 reach + 1) cost of each visible person of ``people`` at the cells around; +inf if hidden.

    With the other people fixed, the local field is the cost of one more person at each cell; two are not at one.
    """
    visible = np.logical_or.reduce([view.visible for view in scene.views]).reshape(people.shape)
    around = np.full(np.array(people.shape) + 2 * reach, np.inf)
    costs = [np.zeros((0, 2 * reach + 1, 2 * reach + 1))]
    for row, column in np.argwhere(people & visible):
        others = people.astype(np.float64)
        others[row, column] = 0.0
        field = energy.local_field(np.stack([1.0 - others, others], axis=-1))
        inside = around[reach : reach + people.shape[0], reach : reach + people.shape[1]]
        inside[:] = np.where(visible & (others == 0), field[..., 1] - field[..., 0], np.inf)
        costs.append(around[None, row : row + 2 * reach + 1, column : column + 2 * reach + 1].copy())
    return np.concatenate(costs)
