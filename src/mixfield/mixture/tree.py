"""The tree of cuts: find the modes of a field by splitting its states again and again (section 4 of the paper)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from mixfield import _arrays
from mixfield.clamping.cell import Cell
from mixfield.clamping.leaf import Leaf, Proposal
from mixfield.clamping.lookahead import Lookahead
from mixfield.clamping.melting import melted_groups, turned_over
from mixfield.clamping.multiplier import Clamp, Settled, settle
from mixfield.clamping.optima import Optima
from mixfield.clamping.selection import Criterion
from mixfield.clamping.temperature import critical_temperature, ladder
from mixfield.energy.energy import Energy, allowed_labels, check
from mixfield.errors import FewerModesWarning, InfeasibleError
from mixfield.meanfield import starts
from mixfield.meanfield.mode import Mode
from mixfield.meanfield.solver import Solver, warn_if_doubtful
from mixfield.mixture.node import Node
from mixfield.mixture.posterior import MixturePosterior

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Search:
    """How hard the optimum of each cell is searched for.

    Attributes
    ----------
    root, leaf : random states that are cooled to find optima of the whole field, and of each cell.
    root_sweeps, leaf_sweeps : steps of their cooling from T_max to 1.
    budget : numbers in a batch of starting points; large fields get fewer of them, and faster coolings.
    remembered : starts taken from the optima seen before, per cell.
    temperatures : steps between 1 and T_max at which phase transitions are looked for.
    polish : starts that each finished leaf takes from the optima found after it.
    standing : whether each new mode is also let go, to learn which optima stand on their own (`Lookahead` asks).
    melts, groups : optima in which groups that melt together are turned over, and groups in each.
    """

    root: int = 24
    leaf: int = 1
    root_sweeps: int = 300
    leaf_sweeps: int = 100
    budget: float = 3e5
    remembered: int = 4
    temperatures: int = 8
    melts: int = 4
    groups: int = 32
    polish: int = 8
    standing: bool = True

    def affordable(self, count: int, size: int) -> int:
        """How many starting points of ``size`` numbers each, at most ``count``."""
        return min(count, max(2, int(self.budget // max(size, 1))))

    def cooling(self, sweeps: int, size: int, t_max: float) -> Floats:
        """Temperatures from T_max to 1."""
        return np.geomspace(max(t_max, 1.0), 1.0, min(sweeps, max(20, int(10 * self.budget // max(size, 1)))))


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
    clamp: Clamp | None = None,
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
    criterion : where to cut: `Lookahead` (default), `PhaseTransition` (the paper's) or your own.
    order : which leaf to cut next: `best_first` (default) or `breadth_first` (the paper's).
    clamp : how modes are held in their cells.
    search : how hard the optimum of each cell is searched for.
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
    allowed = allowed_labels(energy)
    heat = critical_temperature(energy) if t_max is None else _arrays.positive("t_max", t_max)
    growth = _Growth(
        energy=energy,
        allowed=allowed,
        rng=_arrays.generator(rng),
        criterion=criterion or Lookahead(),
        order=order,
        clamp=clamp or Clamp(),
        search=search or Search(),
        solver=solver or Solver(),
        t_max=heat,
    )
    growth.plant()
    notes: list[str] = []
    if n_modes > 1 and heat <= 1.0:
        notes.append(f"the field has a single mode (T_max = {heat:.3g} <= 1): 1 mode instead of {n_modes}")
    elif n_modes > 1 and growth.nodes[0].leaf.log_z == -np.inf:
        notes.append(f"no state inside the hard constraints was found: 1 mode instead of {n_modes}")
    else:
        growth.melt()
        while len(growth.leaves) < n_modes and growth.split():
            if progress is not None:
                progress(len(growth.leaves))
        if len(growth.leaves) < n_modes:
            notes.append(
                f"no further cut keeps both sides in their cells: {len(growth.leaves)} modes instead of {n_modes}"
            )
        growth.polish()
    posterior = growth.posterior(tuple(notes))
    for note in notes:
        warnings.warn(note, FewerModesWarning, stacklevel=2)
    warn_if_doubtful(posterior.modes)
    return posterior


@dataclass(eq=False)
class _Growth:
    """The tree while it grows."""

    energy: Energy
    allowed: NDArray[np.bool_]
    rng: np.random.Generator
    criterion: Criterion
    order: Order
    clamp: Clamp
    search: Search
    solver: Solver
    t_max: float
    nodes: list[_Grown] = field(default_factory=list)

    def __post_init__(self) -> None:
        n, n_labels = self.allowed.shape
        self.rough = replace(self.solver, tolerance=max(self.solver.tolerance, 1e-3))
        self.temperatures = ladder(max(self.t_max, 1.0), self.search.temperatures)
        self.optima = Optima(n, n_labels, capacity=int(max(8, min(256, 2e7 // max(n * n_labels, 1)))))

    @property
    def leaves(self) -> list[int]:
        """Leaves, oldest first."""
        return [k for k, node in enumerate(self.nodes) if not node.children]

    def plant(self) -> None:
        """The root: the best optimum of the whole field that many coolings find."""
        cell = Cell(self.allowed)
        # hard constraints need slower cooling: a state that breaks them is worth nothing
        origin, best = self._cooled(cell, 5 if getattr(self.energy, "has_hard_factors", False) else 1)
        if best is None:  # nothing feasible was found: the result says so with log_z = -inf
            best = settle(self.energy, cell, origin[:1], solver=self.solver, clamp=self.clamp)
        self._add(cell, best, parent=-1, proposal=None)

    def _cooled(self, cell: Cell, patience: int) -> tuple[Floats, Settled | None]:
        """Starting points for the root, and the best mode reached from them."""
        sweeps = patience * self.search.root_sweeps
        count = self.search.affordable(self.search.root, self.allowed.size)
        heat = self.search.cooling(sweeps, self.allowed.size, self.t_max)
        cooled = self.solver.explore(self.energy, count, cell.bias, heat, self.rng)
        origin = np.concatenate([starts.first(self.energy, self.allowed, self.rng)[None], cooled])
        return origin, self._best(cell, origin)

    def melt(self) -> None:
        """Turn over what melts together in the plain mean field, then in the best optima known."""
        root = self.nodes[0]
        done: set[bytes] = set()
        for _ in range(self.search.melts):
            ranked = [0, *np.argsort(-self.optima.log_z, kind="stable").tolist()]
            labelings = self.optima.q.argmax(-1)
            at = next((k for k in ranked if labelings[k].tobytes() not in done), None)
            if at is None:
                return
            done.add(labelings[at].tobytes())
            q = self.optima.q[at]
            groups = melted_groups(root.leaf, q, self.search.affordable(self.search.groups, self.allowed.size))
            if groups:
                turned = turned_over(root.leaf, q, groups, self.solver)
                better = self._best(root.leaf.cell, turned, above=root.leaf.log_z + 1e-6)
                if better is not None and better.log_z[0] > root.leaf.log_z:
                    root.become(better)

    def split(self) -> bool:
        """Cut one leaf in two; False when no leaf can be cut."""
        while True:
            ready = [k for k in self.leaves if self._next(k) is not None]
            if not ready:
                return False
            proposals = [self._next(k) for k in ready]
            chosen = ready[self.order([self.nodes[k].leaf for k in ready], [p for p in proposals if p is not None])]
            proposal = self.nodes[chosen].found.pop(0)  # type: ignore[union-attr]
            if self._cut(chosen, proposal):
                return True

    def polish(self) -> None:
        """Give every leaf the optima that were found after it."""
        for k in self.leaves if self.search.polish else []:
            node = self.nodes[k]
            known = self.optima.best_for(node.leaf.cell, self.search.polish)
            better = self._best(node.leaf.cell, known, above=node.leaf.log_z + 1e-6)
            if better is not None and better.log_z[0] > node.leaf.log_z:
                node.become(better)

    def _next(self, k: int) -> Proposal | None:
        """The best cut of leaf ``k`` that has not been refused."""
        node = self.nodes[k]
        if node.found is None:
            node.found = list(self.criterion.propose(node.leaf))
        return node.found[0] if node.found else None

    def _cut(self, k: int, proposal: Proposal) -> bool:
        """Make a cut if both children live in their cells."""
        parent = self.nodes[k].leaf
        sides = []
        for constraint in (proposal.constraint, proposal.constraint.opposite()):
            try:
                cell = parent.cell.cut(constraint)
            except InfeasibleError:
                return False
            settled = self._settle(cell, parent.q)
            if settled is None:
                return False
            sides.append((cell, settled))
        first = len(self.nodes)
        for cell, settled in sides:
            self._add(cell, settled, parent=k, proposal=proposal)
        self.nodes[k].children = (first, first + 1)
        return True

    def _settle(self, cell: Cell, parent: Floats) -> Settled | None:
        """The best mode of a cell, from its parent, from the optima seen before and from fresh coolings."""
        heat = self.search.cooling(self.search.leaf_sweeps, self.allowed.size, self.t_max)
        cooled = self.solver.explore(self.energy, self.search.leaf, cell.bias, heat, self.rng)
        best = self._best(
            cell, np.concatenate([parent[None], self.optima.best_for(cell, self.search.remembered), cooled])
        )
        if best is not None and self.search.standing and not self.optima.is_standing(best.q[0]):
            free = settle(self.energy, Cell(self.allowed), best.q, solver=self.rough, clamp=self.clamp)
            self.optima.add(free.q, free.log_z, standing=True)
        return best

    def _best(self, cell: Cell, origin: Floats, *, above: float = -np.inf) -> Settled | None:
        """The best of the modes reached from ``origin`` (K, n, L) that keep their mass in the cell, if any is better
        than ``above``."""
        rough = settle(self.energy, cell, origin, solver=self.rough, clamp=self.clamp)
        self.optima.add(rough.q, rough.log_z, standing=not cell.constraints)
        enough = 1.0 - self.clamp.epsilon * len(cell.constraints)
        for k in np.argsort(-rough.log_z, kind="stable"):
            if rough.log_z[k] <= above:
                return None
            fine = settle(self.energy, cell, rough.q[k : k + 1], solver=self.solver, clamp=self.clamp)
            if len(fine.log_z) and fine.log_z[0] > -np.inf and cell.mass(fine.q[0]) >= enough:
                return fine
        return None

    def _add(self, cell: Cell, mode: Settled, *, parent: int, proposal: Proposal | None) -> None:
        leaf = Leaf(
            energy=self.energy,
            solver=self.solver,
            cell=cell,
            q=mode.q[0],
            log_z=float(mode.log_z[0]),
            temperatures=self.temperatures,
            optima=self.optima,
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
