"""The temperature above which a field has one mode, without a hand-picked range.

Let lambda be the largest eigenvalue of -J, where J is the Jacobian of ``local_field`` on directions that sum to zero
over the labels of each variable.  For such a direction d, ``sum d^2 / q >= 2 |d|^2``, so above **lambda / 2** the free
energy of a pairwise energy is convex: there is nothing to look for at higher temperatures.  For the dense Gaussian CRF
this is the paper's Gamma / 2.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mixfield.energy.base import Energy, allowed_labels, fields
from mixfield.energy.factor_graph import FactorGraph
from mixfield.solvers.mean_field import soft_penalty

Floats = NDArray[np.float64]


def critical_temperature(energy: Energy) -> float:
    """T_max = lambda / 2: at and above it the mean field is unique (pairwise energies) or nearly so (others).

    Parameters
    ----------
    energy : any energy; its Jacobian is probed at the uniform point by differences of ``local_field``.  An energy that
        knows the answer in closed form says so with an attribute ``critical_temperature``.

    Examples
    --------
    >>> import mixfield as mf
    >>> from mixfield.solvers import critical_temperature
    >>> round(critical_temperature(mf.FactorGraph.ising([0.0, 0.0], [(0, 1)], 1.5)), 6)
    1.5
    """
    told = getattr(energy, "critical_temperature", None)
    if told is not None:
        return float(told)
    allowed = allowed_labels(energy)
    if isinstance(energy, FactorGraph):
        energy = energy.softened(soft_penalty(energy))
    return max(0.0, _largest_eigenvalue(energy, allowed) / 2)


def _largest_eigenvalue(energy: Energy, allowed: NDArray[np.bool_]) -> float:
    """Of -J on the directions that sum to zero over the allowed labels of each variable."""
    free = np.flatnonzero(allowed.sum(1) > 1)
    if len(free) == 0:
        return 0.0
    inside = allowed[free]
    uniform = np.where(allowed, 1.0, 0.0) / allowed.sum(1, keepdims=True)
    step = 0.5 / allowed.shape[1]

    def zero_sum(direction: Floats) -> Floats:
        kept = np.where(inside, direction, 0.0)
        return np.where(inside, kept - kept.sum(1, keepdims=True) / inside.sum(1, keepdims=True), 0.0)

    def response(flat: Floats) -> Floats:
        direction = zero_sum(flat.reshape(inside.shape))
        size = np.abs(direction).max(initial=0.0)
        if size == 0.0:
            return np.zeros_like(flat)
        move = np.zeros(allowed.shape)
        move[free] = direction * (step / size)
        there, back = fields(energy, np.stack([uniform + move, uniform - move]))[:, free]
        slope = np.where(inside, there, 0.0) - np.where(inside, back, 0.0)
        return -zero_sum(slope * (size / (2 * step))).ravel()

    start = zero_sum(np.random.default_rng(0).standard_normal(inside.shape)).ravel()
    return lanczos(response, start)


def lanczos(response: Callable[[Floats], Floats], start: Floats, *, steps: int = 60, accuracy: float = 1e-3) -> float:
    """Largest eigenvalue of a symmetric operator, with the bound of its error added: rather above than below."""
    from scipy.linalg import eigh_tridiagonal

    steps = min(steps, len(start))
    basis = np.empty((steps, len(start)))
    basis[0] = start / np.linalg.norm(start)
    diagonal, off = np.zeros(steps), np.zeros(steps)
    for k in range(steps):
        image = response(basis[k])
        diagonal[k] = image @ basis[k]
        for _ in range(2):  # orthogonal to all before it, to rounding
            image = image - (basis[: k + 1] @ image) @ basis[: k + 1]
        off[k] = np.linalg.norm(image)
        values, vectors = eigh_tridiagonal(diagonal[: k + 1], off[:k])
        largest, error = float(values[-1]), float(off[k] * abs(vectors[-1, -1]))
        if error <= accuracy * abs(largest) or off[k] < 1e-12 or k + 1 == steps:
            break
        basis[k + 1] = image / off[k]
    return largest + error


def ladder(t_max: float, steps: int) -> Floats:
    """``steps`` temperatures from just above 1 to ``t_max``, evenly spaced in log T, increasing."""
    return np.geomspace(1.0, t_max, steps + 1)[1:]
