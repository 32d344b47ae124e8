"""The temperature above which a field has one mode, without a hand-picked range.

Let lambda be the largest eigenvalue of -J, where J is the Jacobian of ``local_field`` on directions that sum to zero
over the labels of each variable.  For such a direction d, ``sum d^2 / q >= 2 |d|^2``, so above **lambda / 2** the free
energy of a pairwise energy is convex.  For the dense Gaussian CRF this is the paper's Gamma / 2.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mixfield.energy.base import Energy, local_fields

Floats = NDArray[np.float64]

ACCURACY = 1e-3  # relative, of the eigenvalue


def largest_eigenvalue(energy: Energy, allowed: NDArray[np.bool_]) -> float:
    """Of -J at the uniform point, on directions that sum to zero over the ``allowed`` (n, L) labels of each variable.

    The Jacobian is applied by differences of ``local_field``, which are exact for pairwise energies.
    """
    free = np.flatnonzero(allowed.sum(1) > 1)
    if len(free) == 0:
        return 0.0
    inside = allowed[free]
    uniform = np.where(allowed, 1.0, 0.0) / allowed.sum(1, keepdims=True)
    step = 0.5 / allowed.shape[1]

    def zero_sum(direction: Floats) -> Floats:
        kept = np.where(inside, direction, 0.0)
        return np.where(inside, kept - kept.sum(1, keepdims=True) / inside.sum(1, keepdims=True), 0.0)

    def minus_jacobian(flat: Floats) -> Floats:
        direction = zero_sum(flat.reshape(inside.shape))
        size = np.abs(direction).max(initial=0.0)
        if size == 0.0:
            return np.zeros(inside.size)
        move = np.zeros(allowed.shape)
        move[free] = direction * (step / size)
        ahead, behind = local_fields(energy, np.stack([uniform + move, uniform - move]))[:, free]
        slope = np.where(inside, ahead, 0.0) - np.where(inside, behind, 0.0)
        return -zero_sum(slope * (size / (2 * step))).ravel()

    first = zero_sum(np.random.default_rng(0).standard_normal(inside.shape)).ravel()
    return _largest(minus_jacobian, first)


def temperature_steps(t_max: float, steps: int) -> Floats:
    """``steps`` temperatures from just above 1 to ``t_max``, evenly spaced in log T, increasing."""
    return np.geomspace(1.0, t_max, steps + 1)[1:]


def _largest(operator: Callable[[Floats], Floats], first: Floats, *, steps: int = 60) -> float:
    """Largest eigenvalue of a symmetric operator by the Lanczos iteration, plus the bound of its error.

    The result is rather too large than too small, which ``scipy.sparse.linalg.eigsh`` does not offer.
    """
    from scipy.linalg import eigh_tridiagonal

    steps = min(steps, len(first))
    basis = np.empty((steps, len(first)))
    basis[0] = first / np.linalg.norm(first)
    diagonal, off_diagonal = np.zeros(steps), np.zeros(steps)
    for k in range(steps):
        image = operator(basis[k])
        diagonal[k] = image @ basis[k]
        for _ in range(2):  # orthogonal to all before it, to rounding
            image = image - (basis[: k + 1] @ image) @ basis[: k + 1]
        off_diagonal[k] = np.linalg.norm(image)
        values, vectors = eigh_tridiagonal(diagonal[: k + 1], off_diagonal[:k])
        largest, error = float(values[-1]), float(off_diagonal[k] * abs(vectors[-1, -1]))
        if error <= ACCURACY * abs(largest) or off_diagonal[k] < 1e-12 or k + 1 == steps:
            break
        basis[k + 1] = image / off_diagonal[k]
    return largest + error
