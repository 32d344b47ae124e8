"""The tree of cuts: find the modes of a field by splitting its states again and again (section 4 of the paper)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mixfield import _arrays
from mixfield.clamping.cell import Cell
from mixfield.clamping.firm import FirmClamp
from mixfield.clamping.leaf import Leaf, Proposal
from mixfield.clamping.lookahead import Lookahead
from mixfield.clamping.multiplier import Clamp, Settled
from mixfield.clamping.plausible import MostPlausible
from mixfield.clamping.selection import Criterion
from mixfield.clamping.temperature import critical_temperature, ladder
from mixfield.energy.active_labels import active_labels
from mixfield.energy.dense_crf import DenseCRF
from mixfield.energy.energy import Energy, allowed_labels, check
from mixfield.errors import FewerModesWarning, InfeasibleError, MixfieldError
from mixfield.meanfield.mode import Mode
from mixfield.meanfield.solver import Solver, warn_if_doubtful
from mixfield.mixture.annealing import Annealing, Search
from mixfield.mixture.node import Node
from mixfield.mixture.posterior import MixturePosterior
from mixfield.mixture.releasing import Releasing
from mixfield.mixture.seeker import Seeker

Floats = NDArray[np.float64]


@dataclass(eq=False)
class _Grown:
    """A node of the growing tree."""

    leaf: Leaf
    parent: int
    proposal: Proposal | None
    settled: Settled
    children: tuple[int, ...] = ()
    found: list[Proposal] | None = field(default=None)

    def become(self, better: Settled) -> None:
        """Take over a better mode of the same cell."""
        self.settled, self.leaf.q, self.leaf.log_z = better, better.q[0], float(better.log_z[0])


Order = Callable[[Sequence[Leaf], Sequence[Proposal]], int]


def breadth_first(leaves: Sequence[Leaf], proposals: Sequence[Proposal]) -> int:  # noqa: ARG001
    """The paper's order: the oldest leaf next."""
    return 0


def best_first(leaves: Sequence[Leaf], proposals: Sequence[Proposal]) -> int:
    """The leaf whose cut is expected to add most to Z~ next; where nobody looked ahead, the heaviest leaf."""
    scores = [leaf.log_z if np.isnan(p.score) else p.score for leaf, p in zip(leaves, proposals, strict=True)]
    return int(np.argmax(scores))


def infer(
    energy: Energy,
    n_modes: int = 4,
    *,
    rng: int | np.random.Generator = 0,
    criterion: Criterion | None = None,
    order: Order = best_first,
    clamp: Clamp | FirmClamp | None = None,
    search: Search | None = None,
    solver: Solver | None = None,
    t_max: float | None = None,
    progress: Callable[[int], None] | None = None,
) -> MixturePosterior:
    """A weighted mixture of mean fields: several interpretations of a field, each with its probability.

    Parameters
    ----------
    energy : a `FactorGraph`, or anything with ``shape``, ``n_labels``, ``local_field``, ``expected`` and ``of``.
    n_modes : how many modes to look for; fewer come back where the field has no more, with a `FewerModesWarning`.
    rng : seed or generator; the same seed and input give the same bytes, whatever the number of threads.
    criterion : where to cut: `Lookahead` (default; `MostPlausible` for a `DenseCRF`), `PhaseTransition` (the paper's)
        or your own.
    order : which leaf to cut next: `best_first` (default) or `breadth_first` (the paper's).
    clamp : how modes are held in their cells: `Clamp`, or `FirmClamp` for a `DenseCRF`.
    search : how hard the optimum of each cell is searched for; a `DenseCRF` is not searched but released if not given.
    solver : tolerance, iteration limit and threads of each mean field.
    t_max : temperature above which the field has one mode; computed if not given.
    progress : called with the number of modes found so far.

    Returns
    -------
    MixturePosterior
        Modes sorted by weight.

    Notes
    -----
    With strict cuts (single variables, "all of", "none of") ``log_z`` is a lower bound of log Z, and
    ``KL(Q || P) = log Z - log_z``.  With soft cuts both hold up to O(epsilon log epsilon) (lemma A.1 of the paper).

    Examples
    --------
    >>> import mixfield as mf
    >>> graph = mf.FactorGraph.ising([0.1, 0.0, 0.0], [(0, 1), (1, 2)], 2.0)
    >>> posterior = mf.infer(graph, n_modes=2)
    >>> posterior.labelings().tolist()
    [[1, 1, 1], [0, 0, 0]]
    >>> posterior.weights.round(2).tolist()
    [0.55, 0.45]
    """
    check(energy)
    _arrays.at_least("n_modes", n_modes, 1)
    n_labels, labels = energy.n_labels, np.arange(energy.n_labels)
    if isinstance(energy, DenseCRF):
        labels, _ = active_labels(energy)
        energy = energy.restricted(labels) if len(labels) < n_labels else energy
    allowed = allowed_labels(energy)
    heat = critical_temperature(energy) if t_max is None else _arrays.positive("t_max", t_max)
    generator, solver = _arrays.generator(rng), solver or Solver()
    criterion = criterion or default_criterion(energy)
    growth = _Growth(
        energy=energy,
        allowed=allowed,
        rng=generator,
        criterion=criterion,
        order=order,
        seeker=_seeker(energy, allowed, generator, criterion, clamp, search, solver, heat),
        solver=solver,
        t_max=heat,
    )
    growth.plant()
    notes: list[str] = []
    if n_modes > 1 and heat <= 1.0:
        notes.append(f"the field has a single mode (T_max = {heat:.3g} <= 1): 1 mode instead of {n_modes}")
    elif n_modes > 1 and growth.nodes[0].leaf.log_z == -np.inf:
        notes.append(f"no state inside the hard constraints was found: 1 mode instead of {n_modes}")
    else:
        growth.warm_up()
        while len(growth.leaves) < n_modes and growth.split(n_modes - len(growth.leaves)):
            if progress is not None:
                progress(len(growth.leaves))
        if len(growth.leaves) < n_modes:
            notes.append(
                f"no further cut keeps both sides in their cells: {len(growth.leaves)} modes instead of {n_modes}"
            )
        growth.polish()
    posterior = growth.posterior(tuple(notes))
    if len(labels) < n_labels:
        posterior = posterior.among(labels, n_labels)
    for note in notes:
        warnings.warn(note, FewerModesWarning, stacklevel=2)
    warn_if_doubtful(posterior.modes)
    return posterior


def default_criterion(energy: Energy) -> Criterion:
    """Where to cut if nobody says: single variables where the field is small, whole regions where it is dense."""
    return MostPlausible() if isinstance(energy, DenseCRF) else Lookahead()


def _seeker(
    energy: Energy,
    allowed: NDArray[np.bool_],
    rng: np.random.Generator,
    criterion: Criterion,
    clamp: Clamp | FirmClamp | None,
    search: Search | None,
    solver: Solver,
    t_max: float,
) -> Seeker:
    """How the modes of cells are found."""
    if isinstance(energy, DenseCRF) and energy.is_attractive and not isinstance(clamp, Clamp) and search is None:
        return Releasing(energy, clamp or FirmClamp(), solver, distinct=getattr(criterion, "distinct", 1.0))
    if isinstance(clamp, FirmClamp):
        raise MixfieldError(
            f"FirmClamp needs an attractive DenseCRF and no search, got {type(energy).__name__}; use mf.Clamp"
        )
    return Annealing(energy, allowed, rng, clamp or Clamp(), search or Search(), solver, t_max)


@dataclass(eq=False)
class _Growth:
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
        while True:
            ready = [k for k in self.leaves if self._next(k) is not None]
            if not ready:
                return False
            proposals = [self._next(k) for k in ready]
            chosen = ready[self.order([self.nodes[k].leaf for k in ready], [p for p in proposals if p is not None])]
            upcoming = self.nodes[chosen].found or []
            proposal, self.nodes[chosen].found = upcoming[0], upcoming[1:]
            soon = upcoming[: wanted + wanted // 2 + 1]  # some will be refused
            self.seeker.foresee(self.nodes[chosen].leaf, self.nodes[chosen].settled, soon)
            if self._cut(chosen, proposal):
                return True

    def polish(self) -> None:
        """Give every leaf what was found after it."""
        for k in self.leaves:
            better = self.seeker.polish(self.nodes[k].leaf)
            if better is not None:
                self.nodes[k].become(better)

    def _next(self, k: int) -> Proposal | None:
        """The best cut of leaf ``k`` that has not been refused."""
        node = self.nodes[k]
        if node.found is None:
            node.found = list(self.criterion.propose(node.leaf))
        return node.found[0] if node.found else None

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
