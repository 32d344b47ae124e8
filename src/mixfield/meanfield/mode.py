"""One mode: a product distribution, the bound it reaches, and the cell it lives in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Mode:
    """A mean field.

    Attributes
    ----------
    marginals : (*shape, L) probabilities q_i(l).
    log_z : the bound A_k = H(Q) - E_Q[E], at temperature 1, without multipliers.
    constraints : the cardinality constraints on the path from the root to this mode.
    mass_inside : probability, under this mode, that all of them hold.
    converged : whether the last update moved no marginal by more than the tolerance.
    iterations : sweeps or updates made in the final run.
    temperature : at which the marginals were computed.
    """

    marginals: NDArray[np.float64]
    log_z: float
    constraints: tuple[Any, ...] = ()
    mass_inside: float = 1.0
    converged: bool = True
    iterations: int = 0
    temperature: float = 1.0

    def labeling(self) -> NDArray[np.int64]:
        """Most probable label of each variable, (*shape)."""
        return self.marginals.argmax(-1)
