"""One mode: a product distribution, the bound it reaches, and the cell it lives in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield import _simplex
from mixfield.elimination.conditionals import Conditionals


@dataclass(frozen=True, eq=False)
class Mode:
    """A mean field.

    Attributes
    ----------
    marginals : (*shape, L) probabilities q_i(l).
    log_z : the bound A_k = H(Q) - E_Q[E], at temperature 1, without multipliers.
    constraints : the cardinality constraints on the path from the root to this mode.
    mass_inside : probability, under this mode, that all of them hold.
    converged : whether the last update moved no marginal by more than the tolerance; in a cell of a large dense field,
        those of one pixel in 2000 at most.
    iterations : sweeps or updates made in the final run.
    temperature : at which the marginals were computed.
    energy : cost of `labeling`; NaN where it was not computed (dense fields).
    conditionals : distributions of the variables that were summed out, given the others; None if there are none.  The
        mode is then a product distribution of the others times these.
    labels : (*shape) what `labeling` returns; None for the most probable label of each variable.
    cells : the modes of disjoint cells whose mixture this mode is, the heaviest first, with weights in proportion to
        exp(A_c); empty for a mode of one cell.  ``constraints`` are then those that all of them share, ``energy`` and
        `labeling` those of the heaviest.
    """

    marginals: NDArray[np.float64]
    log_z: float
    constraints: tuple[Any, ...] = ()
    mass_inside: float = 1.0
    converged: bool = True
    iterations: int = 0
    temperature: float = 1.0
    energy: float = float("nan")
    labels: NDArray[np.int64] | None = None
    conditionals: Conditionals | None = None
    cells: tuple[Mode, ...] = ()

    def __repr__(self) -> str:
        *shape, labels = self.marginals.shape
        inside = f", mass_inside={self.mass_inside:.6g}" if self.constraints else ""
        merged = f", {len(self.cells)} cells" if self.cells else ""
        return (
            f"Mode({tuple(shape)} variables with {labels} labels, log_z={self.log_z:.6g}, "
            f"{len(self.constraints)} constraints{inside}{merged}, converged={self.converged})"
        )

    def components(self) -> list[tuple[float, Mode]]:
        """The modes of single cells that this mode is a mixture of, each with its share: itself if it is of one."""
        if not self.cells:
            return [(1.0, self)]
        shares = _simplex.softmax(np.array([cell.log_z for cell in self.cells]))
        return list(zip(shares.tolist(), self.cells, strict=True))

    def labeling(self) -> NDArray[np.int64]:
        """Most probable label of each variable, (*shape).

        Variables that were summed out take the labels of lowest cost given the others.
        """
        if self.labels is not None:
            return self.labels
        return self.marginals.argmax(-1) if self.marginals.flags.c_contiguous else _likeliest_plane(self.marginals)


def _likeliest_plane(marginals: NDArray[Any]) -> NDArray[np.int64]:
    """The same, one label after the other: faster where each is contiguous and most are zero everywhere."""
    best, labels = marginals[..., 0], np.zeros(marginals.shape[:-1], np.int64)
    for label in range(1, marginals.shape[-1]):
        plane = marginals[..., label]
        if plane.any():
            labels[plane > best] = label
            best = np.maximum(best, plane)
    return labels
