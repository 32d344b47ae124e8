"""The temperature above which a field has one mode, without a hand-picked range.

Let lambda be the largest eigenvalue of -J, where J is the Jacobian of ``local_field`` on directions that sum to zero
over the labels of each variable.  For such a direction d, ``sum d^2 / q >= 2 |d|^2``, so above **lambda / 2** the free
energy of a pairwise energy is convex: there is nothing to look for at higher temperatures.  For the dense Gaussian CRF
this is the paper's Gamma / 2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from mixfield.energy.energy import Energy, allowed_labels, fields
from mixfield.energy.factor_graph import FactorGraph
from mixfield.meanfield.solver import soft_penalty

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
    >>> round(mf.critical_temperature(mf.FactorGraph.ising([0.0, 0.0], [(0, 1)], 1.5)), 6)
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
    n, n_labels = allowed.shape
    free = np.flatnonzero(allowed.sum(1) > 1)
    counts = allowed[free].sum(1, keepdims=True)
    uniform = np.where(allowed, 1.0, 0.0) / allowed.sum(1, keepdims=True)
    step = 0.5 / n_labels

    def zero_sum(direction: Floats) -> Floats:
        inside = np.where(allowed[free], direction, 0.0)
        return np.where(allowed[free], inside - inside.sum(1, keepdims=True) / counts, 0.0)

    def response(flat: Floats) -> Floats:
        direction = zero_sum(flat.reshape(len(free), n_labels))
        size = np.abs(direction).max(initial=0.0)
        if size == 0.0:
            return np.zeros_like(flat)
        move = np.zeros((n, n_labels))
        move[free] = direction * (step / size)
        difference = fields(energy, np.stack([uniform + move, uniform - move]))
        with np.errstate(invalid="ignore"):
            slope = np.where(allowed, difference[0] - difference[1], 0.0)[free] * (size / (2 * step))
        return -zero_sum(slope).ravel()

    dimension = len(free) * n_labels
    if len(free) == 0:
        return 0.0
    if dimension <= 12:  # too small for Lanczos
        matrix = np.stack([response(unit) for unit in np.eye(dimension)])
        return float(np.linalg.eigvalsh((matrix + matrix.T) / 2)[-1])
    start = np.random.default_rng(0).standard_normal(dimension)
    if not response(start).any():  # no interaction at all
        return 0.0
    operator = LinearOperator((dimension, dimension), matvec=response, dtype=np.float64)
    try:
        return float(eigsh(operator, k=1, which="LA", v0=start, tol=1e-3, return_eigenvectors=False)[0])
    except ArpackNoConvergence as error:
        return float(max(error.eigenvalues, default=0.0))


def ladder(t_max: float, steps: int) -> Floats:
    """``steps`` temperatures from just above 1 to ``t_max``, evenly spaced in log T, increasing."""
    return np.geomspace(1.0, t_max, steps + 1)[1:]
