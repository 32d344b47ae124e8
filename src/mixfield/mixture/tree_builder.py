"""The tree of cuts while it grows, leaf by leaf."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield import _arrays
from mixfield.constraints.cell import Cell
from mixfield.constraints.clamp import Settled
from mixfield.criteria.leaf import Leaf, Proposal
from mixfield.criteria.phase_transition import Criterion
from mixfield.energy.base import Energy
from mixfield.errors import InfeasibleError
from mixfield.mixture.finder import Seeker
from mixfield.mixture.node import Node
from mixfield.mixture.posterior import MixturePosterior
from mixfield.solvers.mean_field import Solver
from mixfield.solvers.mode import Mode
from mixfield.solvers.temperature import ladder

Order = Callable[[Sequence[Leaf], Sequence[Proposal]], int]


class _Queue:
    """Proposals in order of preference, drawn from a criterion as they are asked for."""

    def __init__(self, criterion: Criterion, leaf: Leaf) -> None:
        self._seen: list[Proposal] = []
        self._source = _asked(criterion, leaf)

    def __iter__(self) -> Iterator[Proposal]:
        at = 0
        while True:
            if at == len(self._seen):
                fresh = next(self._source, None)
                if fresh is None:
                    return
                self._seen.append(fresh)
            yield self._seen[at]
            at += 1

    def first(self) -> Proposal | None:
        """The best that is left, None if none is."""
        return next(iter(self), None)

    def drop(self) -> None:
        """Take out the first."""
        self._seen.pop(0)


def _asked(criterion: Criterion, leaf: Leaf) -> Iterator[Proposal]:
    """What a criterion proposes; it is not asked before the first is wanted."""
    yield from criterion.propose(leaf)


class _NothingLeft(LookupError):
    """A leaf cannot be cut any more."""

    def __init__(self, place: int) -> None:
        super().__init__(place)
        self.place = place


class _Firsts(Sequence[Proposal]):
    """The best proposal of each leaf, made when it is looked at: an order that does not look does not pay."""

    def __init__(self, queues: Sequence[_Queue]) -> None:
        self._queues = queues

    def __len__(self) -> int:
        return len(self._queues)

    def __getitem__(self, place: Any) -> Any:
        first = self._queues[place].first()
        if first is None:
            raise _NothingLeft(place)
        return first


@dataclass(eq=False)
class _Grown:
    """A node of the growing tree."""

    leaf: Leaf
    parent: int
    proposal: Proposal | None
    settled: Settled
    children: tuple[int, ...] = ()
    found: _Queue | None = None

    def become(self, better: Settled) -> None:
        """Take over a better mode of the same cell."""
        self.settled, self.leaf.q, self.leaf.log_z = better, better.q[0], float(better.log_z[0])


@dataclass(eq=False)
class Growth:
    """The tree while it grows."""

    energy: Energy
    allowed: NDArray[np.bool_]
    rng: np.random.Generator
    criterion: Criterion
    order: Order
    seeker: Seeker
    solver: Solver
    t_max: float
    nodes: list[_Grown] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.temperatures = ladder(max(self.t_max, 1.0), self.seeker.temperatures)

    @property
    def leaves(self) -> list[int]:
        """Leaves, oldest first."""
        return [k for k, node in enumerate(self.nodes) if not node.children]

    @property
    def log_z(self) -> float:
        """The bound of the mixture of all leaves."""
        return float(np.logaddexp.reduce([self.nodes[k].leaf.log_z for k in self.leaves]))

    def plant(self) -> None:
        """The root: the best mode of the whole field."""
        cell = Cell(self.allowed)
        self._add(cell, self.seeker.root(cell), parent=-1, proposal=None)

    def warm_up(self) -> None:
        """Let the root improve before it is cut."""
        better = self.seeker.warm_up(self.nodes[0].leaf)
        if better is not None:
            self.nodes[0].become(better)

    def split(self, wanted: int) -> bool:
        """Cut one leaf in two, with more such cuts ``wanted``; False when no leaf can be cut."""
        leaves = self.leaves
        while leaves:
            queues = [self._queue(k) for k in leaves]
            try:
                place = self.order([self.nodes[k].leaf for k in leaves], _Firsts(queues))
                proposal = _Firsts(queues)[place]
            except _NothingLeft as nothing:
                leaves.pop(nothing.place)
                continue
            chosen, queue = leaves[place], queues[place]
            node = self.nodes[chosen]
            self.seeker.foresee(node.leaf, node.settled, islice(queue, wanted + wanted // 8 + 1))  # some get refused
            queue.drop()
            if self._cut(chosen, proposal):
                return True
        return False

    @property
    def obstacle(self) -> str | None:
        """Why nothing can be cut, if that is plain from the root."""
        if self.t_max <= 1.0:
            return f"the field has a single mode (T_max = {self.t_max:.3g} <= 1)"
        return "no state inside the hard constraints was found" if self.nodes[0].leaf.log_z == -np.inf else None

    def grow(self, n_modes: int, progress: Callable[[int], None] | None = None) -> None:
        """Cut until there are ``n_modes`` leaves, or nothing can be cut any more."""
        while len(self.leaves) < n_modes and self.obstacle is None and self.split(n_modes - len(self.leaves)):
            if progress is not None:
                progress(len(self.leaves))

    def fork(self) -> Growth:
        """A tree of its own that may be finished, while this one grows on as if nothing had happened."""
        twin = copy(self)
        twin.nodes = [replace(node, leaf=copy(node.leaf)) for node in self.nodes]
        twin.seeker = self.seeker.fork()
        return twin

    def polish(self) -> None:
        """Give every leaf what was found after it."""
        for k in self.leaves:
            better = self.seeker.polish(self.nodes[k].leaf)
            if better is not None:
                self.nodes[k].become(better)

    def _queue(self, k: int) -> _Queue:
        """The cuts of leaf ``k`` that have not been refused."""
        node = self.nodes[k]
        if node.found is None:
            node.found = _Queue(self.criterion, node.leaf)
        return node.found

    def _cut(self, k: int, proposal: Proposal) -> bool:
        """Make a cut if both children live in their cells."""
        parent = self.nodes[k]
        sides = []
        for constraint in (proposal.constraint, proposal.constraint.opposite()):
            try:
                cell = parent.leaf.cell.cut(constraint)
            except InfeasibleError:
                return False
            settled = self.seeker.settle(cell, parent.settled)
            if settled is None:
                return False
            sides.append((cell, settled))
        first = len(self.nodes)
        for cell, settled in sides:
            self._add(cell, settled, parent=k, proposal=proposal)
            if settled.q is parent.settled.q:  # the same mode: what else could be cut is known
                self.nodes[-1].found = parent.found
        parent.children = (first, first + 1)
        return True

    def _add(self, cell: Cell, mode: Settled, *, parent: int, proposal: Proposal | None) -> None:
        leaf = Leaf(
            energy=self.energy,
            solver=self.solver,
            cell=cell,
            q=mode.q[0],
            log_z=float(mode.log_z[0]),
            temperatures=self.temperatures,
            optima=self.seeker.optima,
            rng=self.rng,
        )
        self.nodes.append(_Grown(leaf, parent, proposal, mode))

    def posterior(self, notes: tuple[str, ...]) -> MixturePosterior:
        """The finished mixture, heaviest mode first."""
        ranked = sorted(self.leaves, key=lambda k: -self.nodes[k].leaf.log_z)
        place = {k: rank for rank, k in enumerate(ranked)}
        modes = tuple(self._mode(self.nodes[k]) for k in ranked)
        tree = tuple(
            Node(
                parent=node.parent,
                constraint=node.leaf.cell.constraints[-1] if node.parent >= 0 else None,
                temperature=node.proposal.temperature if node.proposal else float("nan"),
                log_z=node.leaf.log_z,
                mode=place.get(k, -1),
            )
            for k, node in enumerate(self.nodes)
        )
        return MixturePosterior(modes, tree, self.t_max, notes)

    def _mode(self, node: _Grown) -> Mode:
        q = node.settled.q[0]
        return Mode(
            marginals=_arrays.frozen(q.reshape(*self.energy.shape, self.energy.n_labels).copy()),
            log_z=node.leaf.log_z,
            constraints=node.leaf.cell.constraints,
            mass_inside=node.leaf.cell.mass(q),
            converged=bool(node.settled.converged[0]),
            iterations=int(node.settled.iterations[0]),
        )
