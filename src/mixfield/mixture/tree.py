"""Modes of a field by splitting its states again and again (section 4 of the paper): `infer`."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mixfield import _arrays
from mixfield._progress import Advance, Progress, shown
from mixfield.constraints.clamp import Clamp
from mixfield.constraints.firm_clamp import FirmClamp
from mixfield.criteria.base import Criterion
from mixfield.criteria.leaf import Leaf, Proposal
from mixfield.elimination.feasibility import contradiction
from mixfield.energy.base import Energy, check
from mixfield.errors import FewerModesWarning, MixfieldError
from mixfield.mixture.annealing_finder import Search
from mixfield.mixture.bethe_estimate import bethe_log_z
from mixfield.mixture.clustered_cells import with_clustered_modes
from mixfield.mixture.deadline import Deadline
from mixfield.mixture.families import FinderSettings, MakeFinder, family_of
from mixfield.mixture.hard_tables import narrowed_tables, warn_if_far_off
from mixfield.mixture.interpretations import fewest_changes, with_interpretations
from mixfield.mixture.posterior import MixturePosterior
from mixfield.mixture.refined_cells import with_refined_cells
from mixfield.mixture.restoring import with_eliminated, with_energies
from mixfield.mixture.tree_builder import Order, TreeBuilder
from mixfield.solvers.base import MeanFieldSolver
from mixfield.solvers.collapsed import CollapsedSolver
from mixfield.solvers.dispatch import collapsed_solver, solver_for
from mixfield.solvers.factor_graph import FactorGraphSolver
from mixfield.solvers.mean_field import warn_if_doubtful
from mixfield.solvers.options import Solver

LARGEST_TABLE = 64  # entries of the table of an eliminated variable and its neighbours
LARGEST_COLLAPSED = 50_000  # variables up to which that is the default: tables are made one by one
END_OF_CUTS, END_OF_CELLS = 0.5, 0.75  # shares of the seconds, where cells are collapsed, and log Z estimated, later
LARGEST_CLUSTERED, LARGEST_REFINED = 1000, 256  # variables that are left, up to which cells get clusters, further cuts
FEWEST_KEPT, MOST_KEPT = 16, 32  # variables that are left to be cut: one per mode within these limits
NOT_PROVEN = "whether there is one is not known; a thorough search= may find it"


def breadth_first(leaves: Sequence[Leaf], proposals: Sequence[Proposal]) -> int:  # noqa: ARG001
    """The paper's order: the oldest leaf next."""
    return 0


def best_first(leaves: Sequence[Leaf], proposals: Sequence[Proposal]) -> int:
    """The leaf whose cut is expected to add most to Z~ next; where that is not known, the heaviest leaf."""
    heaviest = int(np.argmax([leaf.log_z for leaf in leaves]))
    if np.isnan(proposals[heaviest].score):
        return heaviest
    return int(np.argmax([proposal.score for proposal in proposals]))


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
    finder: MakeFinder | None = None,
    collapse: bool | int | None = None,
    min_distance: float | None = None,
    estimate: bool = False,
    seconds: float | None = None,
    progress: Progress = None,
) -> MixturePosterior:
    """A weighted mixture of mean fields: several interpretations of a field, each with its probability.

    Parameters
    ----------
    energy : a `FactorGraph`, or anything with ``shape``, ``n_labels``, ``local_field``, ``expected`` and ``of``.
    n_modes : how many modes to look for; fewer come back where the field has no more, with a `FewerModesWarning`.
    rng : seed or generator; the same seed and input give the same bytes, whatever the number of threads.
    criterion : where to cut, see `mixfield.criteria`: `Lookahead` (default; `MostPlausible` for a `DenseCRF`,
        `FieldRanked` for `Occupancy`), `PhaseTransition` (the paper's) or your own.
    order : which leaf to cut next: `best_first` (default) or `breadth_first` (the paper's).
    clamp : how modes are held in their cells: `Clamp`, or `FirmClamp` for a `DenseCRF`.
    search : how hard the optimum of each cell is searched for; by default a `DenseCRF` and people are not searched.
    solver : tolerance, iteration limit and threads of each mean field.
    finder : how the modes of cells are found; by default as `mixfield.mixture.families` says for the energy.
    t_max : temperature above which the field has one mode; computed if not given.
    collapse : whether variables of a `FactorGraph` are summed out exactly before the rest is cut into modes, where the
        table of a variable and its neighbours has at most 64 entries, or this many, and whether modes are then mean
        fields over clusters of variables instead of single ones.  By default they are, unless a criterion, clamp,
        finder or t_max is given, which refer to all variables; False is the paper's method.  At least 16 variables are
        left, so that smaller fields stay as they are.
    min_distance : share of the variables that can change in which the labels of two modes differ at least.  Cells that
        differ in fewer are one mode, with the sum of their weights; they raise ``log_z`` all the same.  By default 0.02
        for a `FactorGraph`, under the same conditions as ``collapse``; with 0 every cell is a mode, as in the paper.
    estimate : whether ``log_z_estimate`` is computed: log Z of a `FactorGraph` by belief propagation inside the cells,
        usually much closer than ``log_z``, but not a bound.
    seconds : after these no further cut is made, and no slower cooling begun: the answer is the best so far, with fewer
        modes if need be.  Where variables are summed out inside the cells, or log Z is estimated there, a quarter is
        kept for each.  By default there is no limit.
    progress : called with the number of modes found so far; by default a bar appears on a terminal after two seconds,
        and with False nothing does.

    Returns
    -------
    MixturePosterior
        Modes sorted by weight.

    Notes
    -----
    With strict cuts (single variables, "all of", "none of") ``log_z`` is a lower bound of log Z, and
    ``KL(Q || P) = log Z - log_z``.  With soft cuts both hold up to O(epsilon log epsilon) (lemma A.1 of the paper).
    Each mode of a collapsed field is a product over clusters of the variables that are left, times the exact
    distribution of the others given them, and both hold for these too.

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
    end = Deadline(None if seconds is None else _arrays.positive("seconds", seconds))
    reduced, labels = solver_for(energy, solver).reduced()
    if estimate:
        _with_tables(reduced)  # or an error before the work
    by_default = criterion is None and clamp is None and finder is None and t_max is None
    if collapse is None:
        collapse = by_default and len(reduced.allowed) <= LARGEST_COLLAPSED
    if min_distance is None:
        min_distance = family_of(reduced).min_distance if by_default else 0.0
    limit = _largest_table(collapse or False)
    collapsed = collapsed_solver(energy, solver, limit=limit, keep=_kept(n_modes)) if limit else None
    cuts, cells = _earlier(end, collapsed is not None and _collapses_cells(collapsed), estimate)
    with shown(progress, "modes", n_modes) as advance:
        builder = _builder(
            (collapsed or reduced).with_buffers(), rng=rng, criterion=criterion, order=order, clamp=clamp,
            search=search, t_max=t_max, finder=finder, deadline=cuts, min_distance=min_distance, to_cut=n_modes > 1,
        )  # fmt: skip
        notes = _grow(builder, n_modes, advance)
    if not builder.is_feasible and isinstance(reduced, FactorGraphSolver):
        notes = (*notes, contradiction(reduced.energy) or NOT_PROVEN)
    posterior = replace(builder.posterior(notes), exact_log_z=(collapsed or reduced).cheap_log_z())
    if collapsed is not None:
        posterior = _with_eliminated(posterior, collapsed, energy, limit, n_modes, cells)
    if estimate:
        posterior = replace(posterior, log_z_estimate=bethe_log_z(posterior, _with_tables(reduced), limit, end))
    if builder.is_feasible:
        posterior = _with_narrowed_tables(posterior, reduced, collapsed, limit)
    if labels is not None:
        posterior = posterior.with_labels(labels, energy.n_labels)
    if reduced.reports_energies:
        found = builder.finder.optima.q.argmax(-1)
        seen = found if collapsed is None else collapsed.conditionals.complete(found)
        posterior = with_energies(posterior, energy, [*reduced.good_states.argmax(-1), *seen])
    sizes = reduced.allowed.sum(1) if collapsed is None else collapsed.conditionals.sizes
    posterior = with_interpretations(posterior, fewest_changes(min_distance, sizes), n_modes)
    for note in posterior.notes if len(posterior.modes) < n_modes else ():
        warnings.warn(note, FewerModesWarning, stacklevel=2)
    warn_if_doubtful(posterior.modes)
    warn_if_far_off(posterior.narrowed_tables)
    return posterior


def _earlier(end: Deadline, collapses: bool, estimate: bool) -> tuple[Deadline, Deadline]:
    """The ends of the cuts and of the work inside cells."""
    cells = end.part(END_OF_CELLS if estimate else 1.0)
    return (end.part(END_OF_CUTS) if collapses else cells), cells


def _with_eliminated(
    posterior: MixturePosterior,
    collapsed: CollapsedSolver,
    energy: Energy,
    limit: int,
    n_modes: int,
    deadline: Deadline,
) -> MixturePosterior:
    """The posterior of the whole field, from that of the variables that were kept, with modes over clusters of them."""
    posterior = with_eliminated(posterior, collapsed.conditionals, energy)
    if deadline.passed or len(collapsed.allowed) > LARGEST_CLUSTERED:
        return posterior
    if not _collapses_cells(collapsed) or len(collapsed.allowed) > LARGEST_REFINED:
        return with_clustered_modes(posterior, collapsed, limit)
    return with_refined_cells(posterior, collapsed.whole, limit, n_modes, deadline)


def _collapses_cells(collapsed: CollapsedSolver) -> bool:
    """Whether further variables are summed out inside the cells.

    A cut of binary pairs frees a variable or two, for a tenth of the time; one of other tables decides many.
    """
    graph = collapsed.whole.energy
    return not graph.is_binary_pairwise or graph.has_hard_factors


def _with_narrowed_tables(
    posterior: MixturePosterior, solver: MeanFieldSolver, collapsed: CollapsedSolver | None, limit: int
) -> MixturePosterior:
    """The posterior with the hard tables of which its heaviest mode leaves much out."""
    if not isinstance(solver, FactorGraphSolver) or not solver.energy.has_hard_factors:
        return posterior
    return replace(posterior, narrowed_tables=narrowed_tables(posterior.modes[0], solver, collapsed, limit))


def _with_tables(solver: MeanFieldSolver) -> FactorGraphSolver:
    """The solver, if its energy consists of tables."""
    if not isinstance(solver, FactorGraphSolver):
        raise MixfieldError(
            f"estimate=True needs the tables of a FactorGraph, got {type(solver.energy).__name__}; leave it out"
        )
    return solver


def _kept(n_modes: int) -> int:
    """How many variables must be left when others are summed out."""
    return max(FEWEST_KEPT, min(n_modes, MOST_KEPT))


def _largest_table(collapse: bool | int) -> int:
    """Entries of the tables of eliminated variables; 0 if none are."""
    return (
        (LARGEST_TABLE if collapse else 0) if isinstance(collapse, bool) else _arrays.at_least("collapse", collapse, 0)
    )


def start_tree(
    energy: Energy, *, rng: int | np.random.Generator = 0, criterion: Criterion | None = None,
    order: Order = best_first, clamp: Clamp | FirmClamp | None = None, search: Search | None = None,
    solver: Solver | None = None, t_max: float | None = None, finder: MakeFinder | None = None,
    collapse: bool | int = False,
) -> TreeBuilder:  # fmt: skip
    """The tree that `infer` grows, with nothing but its root: to look at it at several sizes.

    With ``collapse`` it is that of the variables that are left when others are summed out.
    """
    limit = _largest_table(collapse)
    collapsed = collapsed_solver(energy, solver, limit=limit, keep=MOST_KEPT) if limit else None
    return _builder(
        collapsed or solver_for(energy, solver), rng=rng, criterion=criterion, order=order, clamp=clamp, search=search,
        t_max=t_max, finder=finder, deadline=Deadline(),
    )  # fmt: skip


def _grow(builder: TreeBuilder, n_modes: int, progress: Advance | None) -> tuple[str, ...]:
    """Grow a tree to ``n_modes`` leaves; returns notes on what was not possible."""
    if builder.obstacle is not None and (n_modes > 1 or not builder.is_feasible):
        return (f"{builder.obstacle}: 1 mode instead of {n_modes}" if n_modes > 1 else builder.obstacle,)
    builder.improve_root()
    can_be_cut = builder.grow(n_modes, progress)
    builder.separate(n_modes)
    found = len(builder.leaves)
    builder.polish()
    if found < n_modes and builder.deadline.passed:
        return (f"the time was over: {found} modes instead of {n_modes}; raise seconds",)
    if found < n_modes and not can_be_cut:
        return (f"no further cut keeps both sides in their cells: {found} modes instead of {n_modes}",)
    return ()


def _builder(
    solver: MeanFieldSolver, *, rng: int | np.random.Generator, criterion: Criterion | None, order: Order,
    clamp: Clamp | FirmClamp | None, search: Search | None, t_max: float | None, finder: MakeFinder | None,
    deadline: Deadline, min_distance: float = 0.0, to_cut: bool = False,
) -> TreeBuilder:  # fmt: skip
    """A tree with its root, with the defaults of the solver's family."""
    family, generator = family_of(solver), _arrays.generator(rng)
    criterion = criterion or family.criterion(solver.energy)
    t_max = solver.critical_temperature() if t_max is None else _arrays.positive("t_max", t_max)
    make = finder or family.finder
    modes = make(FinderSettings(solver, criterion, t_max, generator, clamp, search, deadline))
    fewest = fewest_changes(_arrays.share("min_distance", min_distance), solver.allowed.sum(1))
    builder = TreeBuilder(solver, criterion, order, modes, t_max, generator, deadline, max(fewest, 1))
    builder.start(to_cut=to_cut)
    return builder
