"""The tree of cuts while it grows, leaf by leaf (algorithm of section 4 of the paper)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from mixfield import _arrays, _threads
from mixfield._threads import Task
from mixfield.constraints.cell import Cell
from mixfield.constraints.solution import CellSolution
from mixfield.criteria.annealed import AnnealedMarginals
from mixfield.criteria.base import Anneals, Criterion, KnowsRivals
from mixfield.criteria.leaf import Leaf, Proposal
from mixfield.errors import InfeasibleError
from mixfield.mixture.deadline import Deadline
from mixfield.mixture.finder import Coming, ModeFinder
from mixfield.mixture.interpretations import group_cells
from mixfield.mixture.node import Node
from mixfield.mixture.posterior import MixturePosterior
from mixfield.solvers.base import MeanFieldSolver
from mixfield.solvers.mode import Mode
from mixfield.solvers.temperature import temperature_steps

CELLS_PER_MODE = 2  # of a tree whose cells are merged into modes

Order = Callable[[Sequence[Leaf], Sequence[Proposal]], int]


class _Proposals:
    """The proposals for a leaf in order of preference, computed when they are read."""

    def __init__(self, criterion: Criterion, leaf: Leaf) -> None:
        self._read: list[Proposal] = []
        self._source = (proposal for one in (leaf,) for proposal in criterion.propose(one))  # not before the first read

    def __iter__(self) -> Iterator[Proposal]:
        at = 0
        while True:
            if at == len(self._read):
                further = next(self._source, None)
                if further is None:
                    return
                self._read.append(further)
            yield self._read[at]
            at += 1

    def first(self) -> Proposal | None:
        """The best one, None if there is none."""
        return next(iter(self), None)

    def drop(self) -> None:
        """Remove the first."""
        self._read.pop(0)


class _NoProposal(LookupError):
    """A leaf cannot be cut any more."""

    def __init__(self, place: int) -> None:
        super().__init__(place)
        self.place = place


class _FirstProposals(Sequence[Proposal]):
    """The best proposal of each leaf, computed when it is read: an order that does not read it costs nothing."""

    def __init__(self, proposals: Sequence[_Proposals]) -> None:
        self._proposals = proposals

    def __len__(self) -> int:
        return len(self._proposals)

    def __getitem__(self, place: Any) -> Any:
        first = self._proposals[place].first()
        if first is None:
            raise _NoProposal(place)
        return first


@dataclass(eq=False)
class _TreeNode:
    """A node of the growing tree."""

    leaf: Leaf
    parent: int
    proposal: Proposal | None
    solution: CellSolution
    children: tuple[int, ...] = ()
    proposals: _Proposals | None = None

    def replace_mode(self, better: CellSolution) -> None:
        """Take a better mode of the same cell."""
        self.solution, self.leaf = better, replace(self.leaf, q=better.q[0], log_z=float(better.log_z[0]))


@dataclass(eq=False)
class TreeBuilder:
    """The tree while it grows.

    Attributes
    ----------
    solver : of the energy.
    criterion, order : where a leaf is cut, and which leaf is cut next.
    finder : of the modes of cells.
    t_max : temperature above which the field has one mode.
    rng : shared by all leaves.
    deadline : after which no leaf is cut or improved.
    fewest_changes : variables in which the labels of two interpretations differ at least.
    """

    solver: MeanFieldSolver
    criterion: Criterion
    order: Order
    finder: ModeFinder
    t_max: float
    rng: np.random.Generator
    deadline: Deadline = field(default_factory=Deadline)
    fewest_changes: int = 1
    nodes: list[_TreeNode] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.temperatures = temperature_steps(max(self.t_max, 1.0), self.finder.n_temperatures)
        self._annealed = AnnealedMarginals(self.solver, self.rng)

    @property
    def leaves(self) -> list[int]:
        """Leaves, oldest first."""
        return [k for k, node in enumerate(self.nodes) if not node.children]

    @property
    def log_z(self) -> float:
        """The bound of the mixture of all leaves."""
        return float(np.logaddexp.reduce([self.nodes[k].leaf.log_z for k in self.leaves]))

    @property
    def is_feasible(self) -> bool:
        """Whether a state inside the hard constraints was found."""
        return bool(self.nodes[0].leaf.log_z > -np.inf)

    @property
    def obstacle(self) -> str | None:
        """Why nothing can be cut, if that is known from the root."""
        if not self.is_feasible:
            return "no state inside the hard constraints was found"
        return f"the field has a single mode (T_max = {self.t_max:.3g} <= 1)" if self.t_max <= 1.0 else None

    def start(self, *, to_cut: bool = False) -> None:
        """The root: the best mode of the whole field, and beside it what the criterion needs to cut it."""
        cell = Cell(self.solver.allowed)
        annealing = self._annealing(cell) if to_cut and self.t_max > 1.0 else None
        self._add(cell, self.finder.root(cell), parent=-1, proposal=None)
        if annealing is not None:
            annealing.result()

    def _annealing(self, cell: Cell) -> Task[Any] | None:
        """The marginals at the temperatures that the criterion asks for, at work; None if it asks for none."""
        if self.finder.draws or not isinstance(self.criterion, Anneals):
            return None
        temperatures = self.criterion.anneals_at(self.solver)
        if not temperatures:
            return None
        task = Task(partial(self._annealed.at, temperatures, cell), self.solver.options.threads)
        task.start()
        return task

    def improve_root(self) -> None:
        """Let the finder improve the root before it is cut."""
        better = self.finder.improve_root(self.nodes[0].leaf)
        if better is not None:
            self.nodes[0].replace_mode(better)

    def grow(self, n_modes: int, progress: Callable[[int], object] | None = None) -> bool:
        """Cut until there are ``n_modes`` leaves, or the time is over; False if nothing can be cut any more.

        Where only interpretations are worth their time, a cut that brings none is the last.
        """
        refines = self.finder.refines or self.fewest_changes <= 1
        try:
            while len(self.leaves) < n_modes and self.obstacle is None and not self.deadline.passed:
                if not self.split(n_modes - len(self.leaves)):
                    return False
                if progress is not None:
                    progress(len(self.leaves))
                if not refines and self.n_interpretations < len(self.leaves):
                    break
            return True
        finally:
            self.finder.expect(0, ())

    @property
    def n_interpretations(self) -> int:
        """How many leaves are interpretations of their own."""
        leaves = [self.nodes[k].leaf for k in self.leaves]
        labelings = np.stack([leaf.labels for leaf in leaves])
        return len(group_cells(labelings, [leaf.log_z for leaf in leaves], self.fewest_changes))

    def separate(self, n_modes: int) -> None:
        """Cut leaves that contain another interpretation, until there are ``n_modes`` of them."""
        if not isinstance(self.criterion, KnowsRivals):
            return
        rivals: dict[int, float] = {}
        while len(self.leaves) < CELLS_PER_MODE * n_modes and not self.deadline.passed and self.obstacle is None:
            rivals |= {k: self.criterion.rival(self.nodes[k].leaf) for k in self.leaves if k not in rivals}
            place = max(self.leaves, key=rivals.__getitem__)
            if rivals[place] == -np.inf or self.n_interpretations >= n_modes:
                return
            self.nodes[place].proposals = None  # made before the rival was known
            proposal = self._proposals(place).first()
            if proposal is None or not self._cut(place, proposal):
                rivals[place] = -np.inf

    def split(self, wanted: int) -> bool:
        """Cut one leaf in two, with ``wanted`` such cuts to come; False when no leaf can be cut."""
        leaves = self.leaves
        while leaves:
            proposals = [self._proposals(k) for k in leaves]
            try:
                place = self.order([self.nodes[k].leaf for k in leaves], _FirstProposals(proposals))
                proposal = _FirstProposals(proposals)[place]
            except _NoProposal as nothing:
                leaves.pop(nothing.place)
                continue
            chosen = self.nodes[leaves[place]]
            ahead = wanted + wanted // 8 + 1  # some of them will be refused
            self.finder.expect(wanted, self._coming(leaves[place], ahead))
            self.finder.prefetch(chosen.leaf, chosen.solution, islice(proposals[place], ahead))
            proposals[place].drop()
            if self._cut(leaves[place], proposal):
                return True
        return False

    def _coming(self, chosen: int, ahead: int) -> Iterator[Coming]:
        """Further cuts of a leaf, and those of others, the heaviest first."""
        for k in sorted(self.leaves, key=lambda k: (k != chosen, -self.nodes[k].leaf.log_z)):
            node = self.nodes[k]
            yield node.leaf, node.solution, islice(self._proposals(k), 2 * ahead if k == chosen else ahead)

    def polish(self) -> None:
        """Improve every leaf with what was found after it."""
        for k in self.leaves:
            if self.deadline.passed:
                return
            better = self.finder.polish(self.nodes[k].leaf)
            if better is not None:
                self.nodes[k].replace_mode(better)

    def fork(self) -> TreeBuilder:
        """A copy that may be finished while this one grows on."""
        twin = copy(self)
        twin.nodes = [replace(node, leaf=copy(node.leaf)) for node in self.nodes]
        twin.finder = self.finder.fork()
        return twin

    def posterior(self, notes: tuple[str, ...]) -> MixturePosterior:
        """The finished mixture, heaviest mode first."""
        ranked = sorted(self.leaves, key=lambda k: -self.nodes[k].leaf.log_z)
        place = {k: rank for rank, k in enumerate(ranked)}
        threads, size = self.solver.options.threads, len(ranked) * self.nodes[0].leaf.q.size
        modes = _threads.each(lambda rank: self._mode(self.nodes[ranked[rank]]), len(ranked), threads, updates=size)
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
        return MixturePosterior(tuple(modes), tree, self.t_max, notes)

    def _proposals(self, k: int) -> _Proposals:
        """The cuts of leaf ``k`` that have not been refused."""
        node = self.nodes[k]
        if node.proposals is None:
            node.proposals = _Proposals(self.criterion, node.leaf)
        return node.proposals

    def _cut(self, k: int, proposal: Proposal) -> bool:
        """Make a cut if both children live in their cells."""
        parent = self.nodes[k]
        children = []
        for constraint in (proposal.constraint, proposal.constraint.opposite()):
            try:
                cell = parent.leaf.cell.cut(constraint)
            except InfeasibleError:
                return False
            solution = self.finder.solve_in_cell(cell, parent.solution)
            if solution is None:
                return False
            children.append((cell, solution))
        first = len(self.nodes)
        for cell, solution in children:
            self._add(cell, solution, parent=k, proposal=proposal)
            if solution.serial == parent.solution.serial:  # the same mode has the same proposals
                self.nodes[-1].proposals = parent.proposals
        parent.children = (first, first + 1)
        return True

    def _add(self, cell: Cell, solution: CellSolution, *, parent: int, proposal: Proposal | None) -> None:
        origin = self.nodes[parent] if parent >= 0 else None
        leaf = Leaf(
            solver=self.solver,
            cell=cell,
            q=solution.q[0],
            log_z=float(solution.log_z[0]),
            temperatures=self.temperatures,
            optima=self.finder.optima,
            annealed=self._annealed,
            rng=self.rng,
            fewest_changes=self.fewest_changes,
            parent=None if origin is None else origin.leaf,
            inherited=() if origin is None else origin.proposals or (),
        )
        self.nodes.append(_TreeNode(leaf, parent, proposal, solution))

    def _mode(self, node: _TreeNode) -> Mode:
        q, energy = node.solution.q[0], self.solver.energy
        return Mode(
            marginals=_arrays.frozen(q.reshape(*energy.shape, energy.n_labels).copy()),
            log_z=node.leaf.log_z,
            constraints=node.leaf.cell.constraints,
            mass_inside=node.leaf.cell.mass(q),
            converged=bool(node.solution.converged[0]) and node.leaf.log_z > -np.inf,
            iterations=int(node.solution.iterations[0]),
        )
