"""The tree of cuts: find the modes of a field by splitting its states again and again (section 4 of the paper)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from mixfield import _arrays
from mixfield.constraints.clamp import Clamp
from mixfield.constraints.firm_clamp import FirmClamp
from mixfield.criteria.leaf import Leaf, Proposal
from mixfield.criteria.lookahead import Lookahead
from mixfield.criteria.most_plausible import MostPlausible
from mixfield.criteria.phase_transition import Criterion
from mixfield.energy.active_labels import active_labels
from mixfield.energy.base import Energy, allowed_labels, check
from mixfield.energy.dense_crf import DenseCRF
from mixfield.errors import FewerModesWarning, MixfieldError
from mixfield.filters.buffers import reused
from mixfield.mixture.annealing import Annealing, Search
from mixfield.mixture.dense_finder import Releasing
from mixfield.mixture.finder import Seeker
from mixfield.mixture.posterior import MixturePosterior
from mixfield.mixture.tree_builder import Growth, Order
from mixfield.solvers.mean_field import Solver, warn_if_doubtful
from mixfield.solvers.temperature import critical_temperature


def breadth_first(leaves: Sequence[Leaf], proposals: Sequence[Proposal]) -> int:  # noqa: ARG001
    """The paper's order: the oldest leaf next."""
    return 0


def best_first(leaves: Sequence[Leaf], proposals: Sequence[Proposal]) -> int:
    """The leaf whose cut is expected to add most to Z~ next; where nobody looked ahead, the heaviest leaf."""
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
    notes: list[str] = []
    with reused():
        growth = plant(
            energy, rng=rng, criterion=criterion, order=order, clamp=clamp, search=search, solver=solver, t_max=t_max
        )
        if n_modes > 1 and growth.obstacle is not None:
            notes.append(f"{growth.obstacle}: 1 mode instead of {n_modes}")
        else:
            growth.warm_up()
            growth.grow(n_modes, progress)
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


def plant(
    energy: Energy,
    *,
    rng: int | np.random.Generator = 0,
    criterion: Criterion | None = None,
    order: Order = best_first,
    clamp: Clamp | FirmClamp | None = None,
    search: Search | None = None,
    solver: Solver | None = None,
    t_max: float | None = None,
) -> Growth:
    """The tree that `infer` grows, with nothing but its root: for those who look at it at several sizes."""
    allowed = allowed_labels(energy)
    heat = critical_temperature(energy) if t_max is None else _arrays.positive("t_max", t_max)
    generator, solver = _arrays.generator(rng), solver or Solver()
    criterion = criterion or default_criterion(energy)
    growth = Growth(
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
    return growth


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
            f"FirmClamp needs an attractive DenseCRF and no search, got {type(energy).__name__}; use constraints.Clamp"
        )
    return Annealing(energy, allowed, rng, clamp or Clamp(), search or Search(), solver, t_max)
