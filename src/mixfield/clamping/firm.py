"""Mean field inside a cell of a dense field: clamp firmly, let go step by step, stop where the mode would leave.

Large groups flip together or not at all.  So the whole group is pushed to its side first, by a multiplier that nothing
resists, and the multiplier then comes down in steps, each started from the one before.  A mode that stays when nothing
holds it is a free-standing optimum; otherwise the smallest multiplier that holds it is kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mixfield import _arrays
from mixfield.clamping.cell import Cell
from mixfield.clamping.constraint import Cardinality
from mixfield.clamping.multiplier import Settled
from mixfield.clamping.tail import AutoTail, Tail
from mixfield.energy.dense_crf import FORBIDDEN, DenseCRF
from mixfield.errors import MixfieldError
from mixfield.meanfield import dense
from mixfield.meanfield.solver import Solver

Floats = NDArray[np.float64]
Float32s = NDArray[np.float32]


@dataclass(frozen=True)
class FirmClamp:
    """How modes of dense fields are held in their cells.

    Attributes
    ----------
    epsilon : largest probability outside each constraint (epsilon of the paper).
    tail : how a count is judged, see `mixfield.clamping.tail`.
    firmness : the first multiplier, as a multiple of Gamma, the largest support a label can get.
    steps : updates under the firm clamp, and after each change of the multiplier.
    release : factors by which the multiplier comes down, the last of them zero: nothing holds the mode.
    bisections : steps that then look for the smallest multiplier between the last that held and the first that did not.
    """

    epsilon: float = 1e-4
    tail: Tail = field(default_factory=AutoTail)
    firmness: float = 4.0
    steps: int = 8
    release: tuple[float, ...] = (0.1, 0.03, 0.01, 0.0)
    bisections: int = 2

    def __post_init__(self) -> None:
        if not 0 < _arrays.positive("epsilon", self.epsilon) < 0.5:
            raise MixfieldError(f"epsilon must lie in (0, 0.5), got {self.epsilon}")

    def settle(self, crf: DenseCRF, cell: Cell, parent: Settled, solver: Solver) -> Settled | None:
        """The mode of ``cell`` that is reached from the mode of the cell it was cut from, or None."""
        hold = _Hold(crf, cell, solver.threads)
        firm = self.firmness * max(2.0 * crf.critical_temperature, 1.0)
        multipliers = np.zeros(len(cell.soft))
        multipliers[: len(parent.multipliers)] = parent.multipliers
        new = len(cell.soft) - 1
        values = hold.run(dense.pack(crf, cell.project(parent.q)), _at(multipliers, new, firm), self.steps)
        if not self._inside(hold, values):
            return None
        multiplier = firm
        for factor in self.release:
            trial = hold.run(values, _at(multipliers, new, factor * firm), self.steps)
            if not self._inside(hold, trial):
                values, multiplier = self._bisect(hold, values, multipliers, factor * firm, multiplier)
                break
            values, multiplier = trial, factor * firm
        return self._finish(hold, values, _at(multipliers, new, multiplier), solver)

    def _bisect(
        self, hold: _Hold, values: Float32s, multipliers: Floats, low: float, high: float
    ) -> tuple[Float32s, float]:
        """A smaller multiplier than ``high`` that still holds the mode."""
        new = len(multipliers) - 1
        for _ in range(self.bisections):
            middle = np.sqrt(low * high) if low > 0 else high / 3
            trial = hold.run(values, _at(multipliers, new, middle), self.steps)
            if self._inside(hold, trial):
                values, high = trial, middle
            else:
                low = middle
        return values, high

    def _finish(self, hold: _Hold, values: Float32s, multipliers: Floats, solver: Solver) -> Settled | None:
        """Converge; where the mode slips out on the way, hold it a little more."""
        for grip in (1.0, 1.5, 4.0):
            held, run = hold.converge(values, grip * multipliers, solver)
            if self._inside(hold, held):
                return Settled(
                    dense.unpack(hold.crf, held, 1),
                    hold.iteration.bounds(held),
                    run.converged,
                    run.iterations,
                    grip * multipliers,
                )
        return None

    def _inside(self, hold: _Hold, values: Float32s) -> bool:
        q = dense.unpack(hold.crf, values, 1)[0]
        return all(self.tail.outside(c, q) <= self.epsilon for c in hold.cell.soft)


def _at(multipliers: Floats, place: int, value: float) -> Floats:
    """The same multipliers with another value at one place."""
    changed = multipliers.copy()
    if len(changed):
        changed[place] = value
    return changed


class _Hold:
    """One mode of a dense field under multipliers."""

    def __init__(self, crf: DenseCRF, cell: Cell, threads: int) -> None:
        self.crf, self.cell = crf, cell
        self.fixed = np.where(cell.allowed, np.float32(0.0), FORBIDDEN)[None]
        self.bias = dense.Bias(self.fixed.copy(), np.zeros(1, np.int32))
        self.iteration = dense.Iteration(crf, 1, self.bias, threads=threads)

    def run(self, values: Float32s, multipliers: Floats, steps: int) -> Float32s:
        """A few updates."""
        self._tilt(multipliers)
        return dense.climb(self.iteration, values.copy(), np.ones(1), tolerance=1e-3, max_iterations=steps)[0]

    def converge(self, values: Float32s, multipliers: Floats, solver: Solver) -> tuple[Float32s, dense.Climb]:
        """Updates until nothing moves."""
        self._tilt(multipliers)
        return dense.climb(
            self.iteration,
            values.copy(),
            np.ones(1),
            tolerance=max(solver.tolerance, dense.SINGLE),
            max_iterations=solver.max_iterations,
        )

    def _tilt(self, multipliers: Floats) -> None:
        self.bias.costs[:] = self.fixed
        for constraint, multiplier in zip(self.cell.soft, multipliers, strict=True):
            _push(self.bias.costs[0], constraint, float(multiplier))


def _push(costs: Float32s, constraint: Cardinality, multiplier: float) -> None:
    costs[constraint.group, constraint.labels] -= np.float32(constraint.sign * multiplier)
