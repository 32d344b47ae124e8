"""The defaults of each family of solvers: where to cut, and how the modes of cells are found.

`register_family` adds a family; the key is `MeanFieldSolver.family`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mixfield.constraints.clamp import Clamp
from mixfield.constraints.firm_clamp import FirmClamp
from mixfield.criteria.base import Criterion, LimitsOverlap
from mixfield.criteria.field_ranked import FieldRanked
from mixfield.criteria.lookahead import Lookahead
from mixfield.criteria.most_plausible import MostPlausible
from mixfield.errors import MixfieldError
from mixfield.mixture.annealing_finder import AnnealingFinder, Search
from mixfield.mixture.deadline import Deadline
from mixfield.mixture.dense_finder import DenseModeFinder
from mixfield.mixture.direct_finder import DirectFinder
from mixfield.mixture.finder import ModeFinder
from mixfield.mixture.interpretations import SHARE
from mixfield.solvers.base import MeanFieldSolver


@dataclass(frozen=True)
class FinderSettings:
    """What a mode finder is made from.

    Attributes
    ----------
    solver, criterion, t_max, rng : of the tree.
    clamp, search : what the user asked for; None leaves it to the family.
    deadline : after which a search should return what it has.
    """

    solver: Any
    criterion: Criterion
    t_max: float
    rng: np.random.Generator
    clamp: Clamp | FirmClamp | None = None
    search: Search | None = None
    deadline: Deadline = field(default_factory=Deadline)


MakeFinder = Callable[[FinderSettings], ModeFinder]


@dataclass(frozen=True)
class Family:
    """Defaults of one family.

    Attributes
    ----------
    criterion : from an energy to the criterion that cuts it.
    finder : from settings to the finder of the modes of its cells.
    min_distance : share of the variables in which two modes differ at least, see `infer`.
    """

    criterion: Callable[[Any], Criterion]
    finder: MakeFinder
    min_distance: float = 0.0


def annealed_search(settings: FinderSettings) -> ModeFinder:
    """Search by annealing."""
    clamp = _soft_clamp(settings, Clamp())
    search = settings.search or Search()
    return AnnealingFinder(settings.solver, settings.rng, clamp, search, settings.t_max, settings.deadline)


def no_search(settings: FinderSettings) -> ModeFinder:
    """No search: one run per cell, from its parent's mode."""
    return DirectFinder(settings.solver, settings.rng, _soft_clamp(settings, Clamp()))


def _people_finder(settings: FinderSettings) -> ModeFinder:
    """No search unless asked for; groups are neighbouring cells of which one is enough."""
    if settings.search is not None:
        return annealed_search(settings)
    clamp = _soft_clamp(settings, Clamp(seeded=True, bisections=0))
    return DirectFinder(settings.solver, settings.rng, clamp, n_temperatures=24)


def _dense_finder(settings: FinderSettings) -> ModeFinder:
    """Firm clamps and releases, unless multipliers or a search are asked for."""
    if isinstance(settings.clamp, Clamp) or settings.search is not None:
        return annealed_search(settings)
    distinct = settings.criterion.distinct if isinstance(settings.criterion, LimitsOverlap) else 1.0
    return DenseModeFinder(settings.solver, settings.clamp or FirmClamp(), distinct=distinct)


def _soft_clamp(settings: FinderSettings, default: Clamp) -> Clamp:
    if isinstance(settings.clamp, FirmClamp):
        raise MixfieldError(
            "FirmClamp needs an attractive DenseCRF and no search, "
            f"got {type(settings.solver.energy).__name__}; use mf.constraints.Clamp"
        )
    return settings.clamp or default


_FAMILIES = {
    "factor_graph": Family(
        # a trial of a cut costs ten times as much with the large tables of a collapsed field
        lambda energy: Lookahead() if energy.is_binary_pairwise else Lookahead(candidates=12),
        annealed_search,
        min_distance=SHARE,
    ),
    "generic": Family(lambda _: Lookahead(), annealed_search),
    "dense": Family(lambda _: MostPlausible(), _dense_finder),
    "repulsive_dense": Family(lambda _: MostPlausible(), annealed_search),
    "occupancy": Family(lambda energy: FieldRanked.for_scene(energy.scene), _people_finder),
}


def register_family(name: str, family: Family) -> None:
    """Set the defaults of the solvers of a family."""
    _FAMILIES[name] = family


def family_of(solver: MeanFieldSolver) -> Family:
    """The defaults for a solver."""
    if solver.family not in _FAMILIES:
        raise MixfieldError(
            f"family {solver.family!r} of {type(solver).__name__} is not one of {', '.join(sorted(_FAMILIES))}; "
            "add it by mixfield.mixture.register_family"
        )
    return _FAMILIES[solver.family]
