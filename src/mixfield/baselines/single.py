"""Clamping one variable at a time, with plain mean field in every leaf (Weller and Domke 2016)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mixfield.baselines.restarts import reading_order
from mixfield.constraints.cardinality import Cardinality
from mixfield.criteria.base import Criterion
from mixfield.criteria.leaf import Leaf, Proposal
from mixfield.criteria.phase_transition import EntropyGap, PhaseTransition, coupling_strength
from mixfield.energy.base import Energy
from mixfield.mixture.families import no_search
from mixfield.mixture.posterior import MixturePosterior
from mixfield.mixture.tree import breadth_first, infer
from mixfield.solvers.options import Solver


@dataclass(frozen=True)
class MaxWVariable:
    """The free variable with the largest sum of couplings |W|."""

    def propose(self, leaf: Leaf) -> Iterator[Proposal]:
        strength = coupling_strength(leaf.energy)
        ranked = leaf.free[np.argsort(-strength[leaf.free], kind="stable")]
        for variable in ranked[:1]:
            yield Proposal(Cardinality(np.array([variable]), leaf.q[variable].argmax(), 1))


def clamp_maxw(
    energy: Energy, n_modes: int, *, rng: int | np.random.Generator = 0, solver: Solver | None = None
) -> MixturePosterior:
    """BASELINE-MAXW: clamp the variable with the largest sum of couplings, breadth first, a mean field per leaf."""
    return _clamped(energy, n_modes, MaxWVariable(), rng, solver)


def clamp_entropy_gap(
    energy: Energy, n_modes: int, *, rng: int | np.random.Generator = 0, solver: Solver | None = None
) -> MixturePosterior:
    """Clamp the single variable whose entropy rises most with the temperature: the paper's rule with groups of one."""
    return _clamped(energy, n_modes, PhaseTransition(pick=EntropyGap(radius=0)), rng, solver)


def _clamped(
    energy: Energy, n_modes: int, criterion: Criterion, rng: int | np.random.Generator, solver: Solver | None
) -> MixturePosterior:
    """The tree of a criterion, breadth first, with plain mean field in every leaf."""
    return infer(
        reading_order(energy),
        n_modes,
        rng=rng,
        criterion=criterion,
        order=breadth_first,
        finder=no_search,
        solver=solver,
    )
