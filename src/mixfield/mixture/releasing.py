"""The modes of a dense field: converge the root, push a group to its other side, and let go."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mixfield.clamping.cell import Cell
from mixfield.clamping.firm import FirmClamp
from mixfield.clamping.leaf import Leaf
from mixfield.clamping.multiplier import Settled
from mixfield.clamping.optima import Optima
from mixfield.energy.dense_crf import DenseCRF
from mixfield.meanfield import dense
from mixfield.meanfield.solver import Solver


@dataclass(eq=False)
class Releasing:
    """Finds the modes of cells of a `DenseCRF`."""

    crf: DenseCRF
    clamp: FirmClamp
    solver: Solver
    temperatures: int = 8
    optima: Optima = field(init=False)

    def __post_init__(self) -> None:
        self.optima = Optima(self.crf.n, self.crf.n_labels, capacity=0)

    def root(self, cell: Cell) -> Settled:  # noqa: ARG002 (nothing is cut yet)
        """The mean field that starts where pixels do not hear of each other."""
        iteration = dense.Iteration(self.crf, 1, dense.Bias.none(self.crf, 1), threads=self.solver.threads)
        values, run = dense.climb(
            iteration,
            iteration.start(np.ones(1, np.float32)),
            np.ones(1),
            tolerance=max(self.solver.tolerance, dense.SINGLE),
            max_iterations=self.solver.max_iterations,
        )
        return Settled(dense.unpack(self.crf, values, 1), iteration.bounds(values), run.converged, run.iterations)

    def warm_up(self, root: Leaf) -> Settled | None:  # noqa: ARG002
        """The root is converged already."""
        return None

    def settle(self, cell: Cell, parent: Settled) -> Settled | None:
        """The parent's mode where it lives in the cell, otherwise the one that firm clamping and release lead to."""
        enough = 1.0 - self.clamp.epsilon * len(cell.constraints)
        if cell.mass(parent.q[0]) >= enough:
            held = np.zeros(len(cell.soft))
            held[: len(parent.multipliers)] = parent.multipliers
            return Settled(parent.q, parent.log_z, parent.converged, parent.iterations, held)
        found = self.clamp.settle(self.crf, cell, parent, self.solver)
        return found if found is not None and cell.mass(found.q[0]) >= enough else None

    def polish(self, leaf: Leaf) -> Settled | None:  # noqa: ARG002
        """Nothing was found after it that could help."""
        return None
