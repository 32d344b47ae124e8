"""Mean fields of an energy in which one label is cheaper or dearer everywhere.

A network that misses an object, or sees too much of it, is often wrong about the label in the whole image: its scores
are too low or too high by a few nats.  The mean field of the shifted costs shows what would be there if they were.
Few updates from the mean field of the energy itself are enough, since only what changes matters.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from mixfield.energy.active_labels import restored
from mixfield.energy.dense_crf import DenseCRF
from mixfield.solvers.base import MeanFieldSolver
from mixfield.solvers.dispatch import solver_for
from mixfield.solvers.mode import Mode
from mixfield.solvers.options import Solver
from mixfield.solvers.tilt import Tilt

Floats = NDArray[np.float64]

SHIFT = 4.0  # nats
UPDATES, TOLERANCE = 10, 1e-2  # of each mean field
LARGEST_BATCH = 1 << 22  # marginals that are solved at once
PEAK, FREQUENCY = 0.1, 0.002  # of the probabilities of a label that may be cheaper
SMALLEST_SHARE = 0.005  # of a label that may be dearer


def label_shifts(
    energy: DenseCRF, answer: Mode, probs: NDArray[np.floating], *, solver: Solver | None = None
) -> Iterator[Mode]:
    """Mean fields with the cost of one label shifted by `SHIFT`; their ``log_z`` is not computed.

    Parameters
    ----------
    energy, answer : a field and its mean field.
    probs : (H, W, L) probabilities of the labels; those that are improbable everywhere are not made cheaper.
    solver : threads of the updates.
    """
    reduced, labels = solver_for(energy, solver).reduced()
    active = np.arange(energy.n_labels) if labels is None else labels
    start = answer.marginals.reshape(-1, energy.n_labels)[:, active].astype(np.float64)
    start /= start.sum(-1, keepdims=True)
    shifts = _shifts(answer.labeling(), probs)[:, active]
    shifts = shifts[shifts.any(1)]
    batch = max(1, LARGEST_BATCH // start.size)
    for first in range(0, len(shifts), batch):
        for q in _solved(reduced, start, shifts[first : first + batch]):
            marginals = q.reshape(*energy.shape, -1)
            yield Mode(marginals if labels is None else restored(marginals, labels, energy.n_labels), answer.log_z)


def _shifts(root: NDArray[np.integer], probs: NDArray[np.floating]) -> Floats:
    """(m, L) additional costs of the labels."""
    n_labels = probs.shape[-1]
    p = probs.reshape(-1, n_labels)
    cheaper = (p.max(0) > PEAK) & (p.mean(0) > FREQUENCY)
    dearer = np.bincount(root.ravel(), minlength=n_labels) >= SMALLEST_SHARE * root.size
    one = np.eye(n_labels)
    return SHIFT * np.concatenate([-one[cheaper], one[dearer]])


def _solved(solver: MeanFieldSolver, start: Floats, shifts: Floats) -> Floats:
    """(m, n, L) marginals after a few updates."""
    bias = np.where(solver.allowed, 0.0, np.inf) + shifts[:, None]
    tilt = Tilt(bias, np.arange(len(shifts), dtype=np.int32))
    run = solver.solve(np.repeat(start[None], len(shifts), 0), tilt, max_iterations=UPDATES, tolerance=TOLERANCE)
    return run.q
