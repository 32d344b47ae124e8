"""Mean field inside a cell of a dense field: clamp firmly, let go, and hold again what would leave.

Large groups flip together or not at all.  So the whole group is pushed to its side first, by a multiplier that nothing
resists, and then released.  A mode that stays when nothing holds it is a free-standing optimum; for the others a small
multiplier is looked for that still holds them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield import _arrays
from mixfield.constraints.cardinality import Cardinality
from mixfield.constraints.cell import Cell
from mixfield.constraints.clamp import Settled
from mixfield.constraints.tail import AutoTail, Tail
from mixfield.energy.dense_crf import DenseCRF
from mixfield.energy.unary import FORBIDDEN
from mixfield.errors import MixfieldError
from mixfield.filters.buffers import room, space
from mixfield.solvers import dense, packing
from mixfield.solvers.dense_update import Iteration
from mixfield.solvers.mean_field import Solver

ROUND = 10  # updates after which modes that have come to rest leave the others
HELD = 5e-2  # change at which a mode that is held counts as converged if nobody says: on the brink, it goes on creeping

Floats = NDArray[np.float64]
Float32s = NDArray[np.float32]


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
    grips : smaller multipliers to try on modes that do not stay when nothing holds them, as multiples of Gamma.
    patience : updates in which a mode must come to rest; on the brink of falling back it would go on creeping.
    release : let go of the groups; if not, all stay firmly clamped, at a third of the filterings and with lower bounds.
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

    def settle(
        self,
        crf: DenseCRF,
        cells: Sequence[Cell],
        parent: Settled,
        solver: Solver,
        *,
        wanted: Callable[[NDArray[np.int32]], bool] = lambda labels: True,  # noqa: ARG005
    ) -> list[Settled | None]:
        """The modes of ``cells``, each cut from the cell of ``parent``, in one batch; None where none lives.

        Modes whose labels (n,) are not ``wanted`` once they are firmly clamped are given up there.
        """
        hold = _Hold(crf, cells, parent, solver)
        gamma = max(2.0 * crf.critical_temperature, 1.0)
        alike = len(cells) > 1 and not any(len(cell.narrow) for cell in cells)
        values = hold.run(hold.start, np.full(len(cells), self.firmness * gamma), self.steps, alike=alike)
        labels = packing.labelings(crf, values, len(cells), solver.threads)
        alive = self._inside(hold, values) & np.array([wanted(one) for one in labels])
        found: list[Settled | None] = [None] * len(cells)
        living = np.flatnonzero(alive)
        if len(living):
            some = hold.only(living)
            let_go = self._release if self.release else self._keep
            for place, settled in zip(living, let_go(some, hold.columns(values, living), gamma), strict=True):
                found[place] = settled
        return found

    def _keep(self, hold: _Hold, values: Float32s, gamma: float) -> list[Settled | None]:
        """Converge under the firm clamp."""
        firm = self.firmness * gamma
        return self._finish(hold, values, np.full(len(hold.cells), firm), firm)

    def _release(self, hold: _Hold, values: Float32s, gamma: float) -> list[Settled | None]:
        """Let go of modes that are firmly clamped, hold those that would leave, and converge."""
        values, standing = self._try(hold, values, np.zeros(len(hold.cells)))
        multipliers = np.where(standing, 0.0, self.firmness * gamma)
        for grip in self.grips if not standing.all() else ():
            trial = np.where(multipliers > grip * gamma, grip * gamma, multipliers)
            values, inside = self._try(hold, values, trial)
            multipliers = np.where(inside, trial, multipliers)
        return self._finish(hold, values, multipliers, max(self.grips, default=1.0) * gamma)

    def _try(self, hold: _Hold, values: Float32s, multipliers: Floats) -> tuple[Float32s, NDArray[np.bool_]]:
        """Updates under other multipliers, taken back for the modes that leave their cells."""
        trial = hold.run(values, multipliers, self.steps)
        inside = self._inside(hold, trial)
        return hold.choose(inside, trial, values), inside

    def _finish(self, hold: _Hold, values: Float32s, multipliers: Floats, least: float) -> list[Settled | None]:
        """Converge; where a mode slips out on the way, hold it twice as much, and ``least`` if nothing held it."""
        found: list[Settled | None] = [None] * len(hold.cells)
        for grip in (multipliers, np.maximum(2.0 * multipliers, least)):
            waiting = np.flatnonzero([one is None for one in found])
            if len(waiting) == 0:
                break
            some = hold.only(waiting)
            start = hold.columns(values, waiting)
            held, iterations, converged = some.converge(start, grip[waiting], self.patience)
            inside, q, log_z = self._inside(some, held), packing.unpack(hold.crf, held, len(waiting)), some.bounds(held)
            for k, place in enumerate(waiting):
                if inside[k]:
                    found[place] = Settled(
                        q[k : k + 1],
                        log_z[k : k + 1],
                        converged[k : k + 1],
                        iterations[k : k + 1],
                        hold.multipliers(int(place), float(grip[place])),
                    )
        return found

    def _inside(self, hold: _Hold, values: Float32s) -> NDArray[np.bool_]:
        return np.array(
            [
                all(self.tail.outside(c.alone, hold.members(values, k, c)) <= self.epsilon for c in cell.soft)
                for k, cell in enumerate(hold.cells)
            ]
        )


class _Hold:
    """Some modes of a dense field, each under the multipliers it inherits and one of its own."""

    def __init__(
        self, crf: DenseCRF, cells: Sequence[Cell], parent: Settled, solver: Solver, fixed: Float32s | None = None
    ) -> None:
        self.crf, self.cells, self.parent, self.solver = crf, cells, parent, solver
        self.fixed = self._inherited_costs() if fixed is None else fixed
        self.bias = space(*self.fixed.shape)
        channels = self.bias.reshape(crf.n, -1)
        self.iteration = Iteration(crf, len(cells), channels, threads=solver.threads)

    def _inherited_costs(self) -> Float32s:
        """(n, L, K) costs of forbidden labels, and of the multipliers of earlier cuts."""
        fixed = room(self.crf.n, self.crf.n_labels, len(self.cells))
        for k, cell in enumerate(self.cells):
            fixed[cell.narrow, :, k] = np.where(cell.allowed[cell.narrow], np.float32(0.0), FORBIDDEN)
            for constraint in cell.soft:
                _push(fixed[..., k], constraint, self.inherited(constraint))
        return fixed

    @property
    def start(self) -> Float32s:
        """Channels of the parent's mode, once for each cell."""
        crf, q = self.crf, self.parent.q
        values = room(crf.n, crf.width(len(self.cells)))
        modes = packing.by_label(crf, values, len(self.cells))
        modes[:] = q[0, :, : crf.channels, None]
        for k, cell in enumerate(self.cells):
            if len(cell.narrow):
                modes[cell.narrow, :, k] = cell.project(q)[0, cell.narrow, : crf.channels]
        return values

    def only(self, places: NDArray[np.intp]) -> _Hold:
        """The same with some of the modes."""
        if len(places) == len(self.cells):
            return self
        fixed = np.ascontiguousarray(self.fixed[..., places])
        return _Hold(self.crf, [self.cells[k] for k in places], self.parent, self.solver, fixed)

    def columns(self, values: Float32s, places: NDArray[np.intp]) -> Float32s:
        """Channels of some of the modes."""
        if len(places) == len(self.cells):
            return values
        return packing.columns(self.crf, values, len(self.cells), places)

    def members(self, values: Float32s, place: int, constraint: Cardinality) -> NDArray[Any]:
        """(L, 1) probabilities that members of a constraint have their label in one of the modes."""
        return packing.members(self.crf, values, len(self.cells), place, constraint.group, constraint.labels)[:, None]

    def inherited(self, constraint: Cardinality) -> float:
        """The multiplier of an earlier cut, a little firmer: the new cut shakes a mode that stands on the brink."""
        return 1.5 * self.parent.multipliers.get(constraint.identity, 0.0)

    def multipliers(self, place: int, own: float) -> dict[Hashable, float]:
        """What holds one of the modes."""
        held: dict[Hashable, float] = {c.identity: self.inherited(c) for c in self.cells[place].soft}
        new = _new(self.cells[place])
        return held if new is None else held | {new.identity: own}

    def choose(self, first: NDArray[np.bool_], one: Float32s, other: Float32s) -> Float32s:
        """Channels of ``one`` for the modes marked ``first``, of ``other`` for the rest."""
        if first.all():
            return one
        marked = np.zeros(one.shape[1], bool)
        marked[: len(first) * self.crf.channels] = np.tile(first, self.crf.channels)
        return np.where(marked, one, other)

    def run(self, values: Float32s, multipliers: Floats, steps: int, *, alike: bool = False) -> Float32s:
        """A few updates, from the same point for all modes if they are ``alike``."""
        self._tilt(multipliers)
        heat = np.ones(len(self.cells))
        return dense.climb(self.iteration, values.copy(), heat, tolerance=1e-2, max_iterations=steps, alike=alike)[0]

    def converge(
        self, values: Float32s, multipliers: Floats, patience: int
    ) -> tuple[Float32s, NDArray[np.int32], NDArray[np.bool_]]:
        """Updates until nothing moves, and how many; a mode that has come to rest is not updated with the others."""
        self._tilt(multipliers)
        heat, tolerance = np.ones(len(self.cells)), self.solver.tolerance or HELD
        updates = min(patience, self.solver.max_iterations, ROUND)
        held, run = dense.climb(self.iteration, values.copy(), heat, tolerance=tolerance, max_iterations=updates)
        iterations, converged = run.iterations, run.converged
        restless = np.flatnonzero(~converged)
        left = min(patience, self.solver.max_iterations) - ROUND
        if len(restless) and left > 0:
            columns = self.columns(held, restless)
            more, further, at_rest = self.only(restless).converge(columns, multipliers[restless], left)
            packing.by_label(self.crf, held, len(self.cells))[..., restless] = packing.by_label(
                self.crf, more, len(restless)
            )
            iterations[restless] += further
            converged[restless] = at_rest
        return held, iterations, converged

    def bounds(self, values: Float32s) -> Floats:
        """(K,) A_k, without multipliers."""
        return self.iteration.bounds(values)

    def _tilt(self, multipliers: Floats) -> None:
        self.bias[:] = self.fixed
        for k, (cell, multiplier) in enumerate(zip(self.cells, multipliers, strict=True)):
            if _new(cell) is not None:
                _push(self.bias[..., k], cell.constraints[-1], float(multiplier))


def _new(cell: Cell) -> Cardinality | None:
    """The constraint that was added last, unless forbidden labels enforce it already."""
    return cell.constraints[-1] if any(c is cell.constraints[-1] for c in cell.soft) else None


def _push(costs: Float32s, constraint: Cardinality, multiplier: float) -> None:
    """Take the multiplier from the costs (n, L) of what the constraint asks for, or add it to what it forbids."""
    if multiplier:
        costs[constraint.group, constraint.labels] -= np.float32(constraint.sign * multiplier)
