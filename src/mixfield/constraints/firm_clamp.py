"""Mean field inside a cell of a dense field: clamp firmly, release, and clamp again the modes that leave.

Large groups flip together or not at all.  So the whole group is pushed to its side first, by a large multiplier, and
then released.  A mode that stays inside without a multiplier is an optimum of the whole field; for the others a smaller
multiplier is tried.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield import _arrays, _threads
from mixfield.constraints.cardinality import Cardinality
from mixfield.constraints.cell import Cell
from mixfield.constraints.solution import CellSolution
from mixfield.constraints.tail import AutoTail, Tail
from mixfield.energy.unary import FORBIDDEN
from mixfield.errors import MixfieldError
from mixfield.filters.buffers import aligned_empty, aligned_zeros
from mixfield.solvers.dense import DenseSolver
from mixfield.solvers.dense_fixed_point import Convergence, iterate
from mixfield.solvers.layout import Layout, copy_columns

ROUND = 10  # updates after which converged modes leave the batch
HELD_TOLERANCE = 5e-2  # default tolerance of clamped modes, which are marginally stable and converge slowly
STRAGGLERS = 5e-4  # share of the pixels that may go on moving in a clamped mode: less than a region that is worth a cut
INHERITED = 1.5  # factor on the multipliers of earlier cuts: a new cut disturbs a marginally stable mode

Floats = NDArray[np.float64]
Float32s = NDArray[np.float32]
Inside = Callable[["_ClampedModes", Float32s, Iterable[int]], bool]  # whether one of some modes is inside


@dataclass(frozen=True)
class FirmClamp:
    """How modes of dense fields are held in their cells.

    Attributes
    ----------
    epsilon : largest probability outside each constraint (epsilon of the paper).
    tail : how a count is judged, see `mixfield.constraints.tail`.
    firmness : the first multiplier, as a multiple of Gamma, the largest support a label can get.
    steps : updates under the firm clamp, and after each change of the multiplier; in large fields most of them are of
        the few pixels that still move.
    grips : smaller multipliers to try on modes that leave when released, as multiples of Gamma.
    patience : updates in which a mode must converge; marginally stable ones would take many more.
    release : release the groups; if not, all stay firmly clamped, at a third of the filterings and with lower bounds.
    """

    epsilon: float = 1e-4
    tail: Tail = field(default_factory=AutoTail)
    firmness: float = 4.0
    steps: int = 8
    grips: tuple[float, ...] = (0.5,)
    patience: int = 40
    release: bool = True

    def __post_init__(self) -> None:
        if not 0 < _arrays.positive("epsilon", self.epsilon) < 0.5:
            raise MixfieldError(f"epsilon must lie in (0, 0.5), got {self.epsilon}")

    def solve_in_cells(
        self,
        solver: DenseSolver,
        cells: Sequence[Cell],
        parent: CellSolution,
        *,
        accept: Callable[[NDArray[np.int32]], bool] = lambda labels: True,  # noqa: ARG005
    ) -> list[CellSolution | None]:
        """The modes of ``cells``, each cut from the cell of ``parent``, in one batch; None where none lives.

        Modes whose labels (n,) are not accepted once they are firmly clamped are given up there.
        """
        held = _ClampedModes(solver, cells, parent)
        gamma = max(2.0 * solver.critical_temperature(), 1.0)
        firm = np.full(len(cells), self.firmness * gamma)
        values = held.run(held.start, firm, self.steps)
        labels = held.layout.labelings(values, held.threads)
        alive = np.flatnonzero(self._inside(held, values) & np.array([accept(one) for one in labels]))
        found: list[CellSolution | None] = [None] * len(cells)
        if len(alive):
            some = held.only(alive), held.layout.take(values, alive, held.threads)
            solutions = self._release(*some, gamma) if self.release else self._finish(*some, firm[alive], firm[0])
            for place, solution in zip(alive, solutions, strict=True):
                found[place] = solution
        return found

    def _release(self, held: _ClampedModes, values: Float32s, gamma: float) -> list[CellSolution | None]:
        """Release modes that are firmly clamped, clamp those that would leave, and converge."""
        values, standing = self._try(held, values, np.zeros(len(held.cells)))
        multipliers = np.where(standing, 0.0, self.firmness * gamma)
        for grip in self.grips if not standing.all() else ():
            trial = np.where(multipliers > grip * gamma, grip * gamma, multipliers)
            values, inside = self._try(held, values, trial)
            multipliers = np.where(inside, trial, multipliers)
        return self._finish(held, values, multipliers, max(self.grips, default=1.0) * gamma)

    def _try(self, held: _ClampedModes, values: Float32s, multipliers: Floats) -> tuple[Float32s, NDArray[np.bool_]]:
        """Updates under other multipliers, taken back for the modes that leave their cells."""

        def left(values: Float32s) -> bool:
            return not self._any_inside(held, values, range(len(held.cells)))

        trial = held.run(values, multipliers, self.steps, given_up=left)
        inside = self._inside(held, trial)
        columns = held.layout.channels(np.flatnonzero(~inside))
        copy_columns(values, columns, trial, columns, held.threads)
        return trial, inside

    def _finish(
        self, held: _ClampedModes, values: Float32s, multipliers: Floats, least: float
    ) -> list[CellSolution | None]:
        """Converge; where a mode leaves on the way, double its multiplier, and take ``least`` if it had none."""
        found: list[CellSolution | None] = [None] * len(held.cells)
        for grip in (multipliers, np.maximum(2.0 * multipliers, least)):
            waiting = np.flatnonzero([one is None for one in found])
            if len(waiting) == 0:
                break
            some = held.only(waiting)
            start = held.layout.take(values, waiting, held.threads)
            converged, run = some.converge(start, grip[waiting], self.patience, self._any_inside)
            inside = self._inside(some, converged)
            solutions = some.solutions(converged, run, grip[waiting]) if inside.any() else []
            for k in np.flatnonzero(inside):
                found[waiting[k]] = solutions[k]
        return found

    def _inside(self, held: _ClampedModes, values: Float32s) -> NDArray[np.bool_]:
        """(K,) which modes satisfy the soft constraints of their cells."""

        def inside(k: int) -> bool:
            return self._any_inside(held, values, (k,))

        members = sum(len(c.group) for cell in held.cells for c in cell.soft)
        return np.array(_threads.each(inside, len(held.cells), held.threads, updates=4 * members))

    def _any_inside(self, held: _ClampedModes, values: Float32s, modes: Iterable[int]) -> bool:
        """Whether one of some modes satisfies the soft constraints of its cell, the last of which is new."""

        def holds(k: int, c: Cardinality) -> bool:
            members = held.layout.probabilities(values, k, c.group, c.labels)[:, None]
            return self.tail.outside(c.alone, members) <= self.epsilon

        return any(all(holds(k, c) for c in held.cells[k].soft[::-1]) for k in modes)


class _ClampedModes:
    """Modes of a dense field, each under the multipliers it inherits and one of its own."""

    def __init__(
        self, solver: DenseSolver, cells: Sequence[Cell], parent: CellSolution, fixed: Float32s | None = None
    ) -> None:
        self.solver, self.cells, self.parent, self.threads = solver, cells, parent, solver.options.threads
        self.layout = Layout(solver.energy, len(cells), solver.pool)
        self.bias = self._inherited_costs() if fixed is None else fixed  # and the costs of the own multipliers
        self._inherited = [
            None if (c := cell.last_soft) is None else self.bias[c.group, c.labels, k] for k, cell in enumerate(cells)
        ]
        self.update = solver.update(len(cells), self.bias.reshape(solver.energy.n, -1))

    def _inherited_costs(self) -> Float32s:
        """(n, L, K) costs of forbidden labels, and of the multipliers of earlier cuts."""
        crf = self.solver.energy
        fixed = aligned_zeros(crf.n, crf.n_labels, len(self.cells), pool=self.solver.pool)
        for k, cell in enumerate(self.cells):
            fixed[cell.narrow, :, k] = np.where(cell.allowed[cell.narrow], np.float32(0.0), FORBIDDEN)
            for constraint in cell.soft:
                _push(fixed[..., k], constraint, self.inherited(constraint))
        return fixed

    @property
    def start(self) -> Float32s:
        """Channels of the parent's mode, once for each cell."""
        q, values = self.parent.q, self.layout.zeros()
        modes, stored = self.layout.by_label(values), self.layout.stored
        modes[:] = q[0, :, :stored, None]
        for k, cell in enumerate(self.cells):
            if len(cell.narrow):
                modes[cell.narrow, :, k] = cell.project(q)[0, cell.narrow, :stored]
        return values

    def only(self, places: NDArray[np.intp]) -> _ClampedModes:
        """Some of the modes."""
        if len(places) == len(self.cells):
            return self
        self._set_multipliers(np.zeros(len(self.cells)))
        n, L, K = self.bias.shape
        inherited = aligned_empty(n, L, len(places), pool=self.solver.pool)
        columns = np.asarray(np.arange(L)[:, None] * K + places).ravel()
        flat = self.bias.reshape(n, -1), columns, inherited.reshape(n, -1), np.arange(len(columns))
        copy_columns(*flat, self.threads)
        return _ClampedModes(self.solver, [self.cells[k] for k in places], self.parent, inherited)

    def inherited(self, constraint: Cardinality) -> float:
        """The multiplier of an earlier cut, a little firmer."""
        return INHERITED * self.parent.multipliers.get(constraint.identity, 0.0)

    def multipliers(self, place: int, own: float) -> dict[Hashable, float]:
        """All multipliers of one of the modes, by the identity of their constraints."""
        held: dict[Hashable, float] = {c.identity: self.inherited(c) for c in self.cells[place].soft}
        new = self.cells[place].last_soft
        return held if new is None else held | {new.identity: own}

    def run(self, values: Float32s, multipliers: Floats, steps: int, **options: Any) -> Float32s:
        """A few updates under some multipliers (K,)."""
        self._set_multipliers(multipliers)
        temperature = np.ones(len(self.cells))
        return iterate(self.update, values, temperature, tolerance=1e-2, max_iterations=steps, **options)[0]

    def converge(
        self, values: Float32s, multipliers: Floats, patience: int, inside: Inside
    ) -> tuple[Float32s, Convergence]:
        """Updates until nothing changes, or all that changes is outside; modes that have converged leave the batch."""
        self._set_multipliers(multipliers)
        patience, tolerance = min(patience, self.solver.max_iterations), self.solver.options.tolerance or HELD_TOLERANCE
        temperature, most = np.ones(len(self.cells)), min(patience, ROUND)
        values, run = iterate(
            self.update, values, temperature, tolerance=tolerance, max_iterations=most, stragglers=STRAGGLERS
        )
        moving = np.flatnonzero(~run.converged)
        if patience > ROUND and inside(self, values, moving):
            rest = self.only(moving)
            start = self.layout.take(values, moving, self.threads)
            more, further = rest.converge(start, multipliers[moving], patience - ROUND, inside)
            columns = self.layout.channels(moving)
            copy_columns(more, np.arange(len(columns)), values, columns, self.threads)
            run.iterations[moving] += further.iterations
            run.converged[moving] = further.converged
        return values, run

    def solutions(self, values: Float32s, run: Convergence, multipliers: Floats) -> list[CellSolution]:
        """The modes with their bounds A_k, without multipliers."""
        every = CellSolution(self.layout.unpack(values), self.update.bounds(values), run.converged, run.iterations)
        return [replace(every.only(k), multipliers=self.multipliers(k, float(m))) for k, m in enumerate(multipliers)]

    def _set_multipliers(self, multipliers: Floats) -> None:
        """Write the additional costs of the own multipliers."""
        for k, (cell, inherited) in enumerate(zip(self.cells, self._inherited, strict=True)):
            if (c := cell.last_soft) is not None and inherited is not None:
                self.bias[c.group, c.labels, k] = inherited - np.float32(c.sign * float(multipliers[k]))


def _push(costs: Float32s, constraint: Cardinality, multiplier: float) -> None:
    """Subtract the multiplier from the costs (n, L) of what "at least" asks for, or add it for "fewer than"."""
    if multiplier:
        costs[constraint.group, constraint.labels] -= np.float32(constraint.sign * multiplier)
