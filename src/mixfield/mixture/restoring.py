"""The posterior of a whole field from that of the variables that are left after others were summed out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from mixfield import _arrays
from mixfield.constraints.cardinality import Cardinality
from mixfield.elimination.conditionals import Conditionals
from mixfield.energy.base import Energy
from mixfield.mixture.posterior import MixturePosterior
from mixfield.solvers.mode import Mode

Ints = NDArray[np.int64]


def with_eliminated(posterior: MixturePosterior, conditionals: Conditionals, energy: Energy) -> MixturePosterior:
    """The posterior of ``energy`` when that of its kept variables is ``posterior``."""
    renumbered = cache(partial(_renumbered, conditionals=conditionals))  # cells share the cuts of their ancestors
    modes = tuple(
        replace(mode, constraints=tuple(map(renumbered, mode.constraints)))
        for mode in restored_modes(posterior.modes, conditionals, energy)
    )
    tree = tuple(
        node if node.constraint is None else replace(node, constraint=renumbered(node.constraint))
        for node in posterior.tree
    )
    return replace(posterior, modes=modes, tree=tree)


def restored_modes(modes: Sequence[Mode], conditionals: Conditionals, energy: Energy) -> list[Mode]:
    """Modes of the kept variables as modes of ``energy``; their constraints stay."""
    q = np.stack([mode.marginals for mode in modes])
    full = conditionals.marginals(q, energy.n_labels).reshape(len(q), *energy.shape, energy.n_labels)
    labelings = conditionals.complete(q.argmax(-1)).reshape(len(q), *energy.shape)
    return [
        replace(mode, marginals=_arrays.frozen(marginals), labels=_arrays.frozen(labels), conditionals=conditionals)
        for mode, marginals, labels in zip(modes, full, labelings, strict=True)
    ]


def _renumbered(constraint: Cardinality, conditionals: Conditionals) -> Cardinality:
    """A constraint on kept variables as one on the variables and labels of the whole field."""
    group = conditionals.kept[constraint.group]
    return replace(constraint, group=group, labels=conditionals.labels[group, constraint.labels])


def with_energies(posterior: MixturePosterior, energy: Energy, states: Iterable[Ints] = ()) -> MixturePosterior:
    """The posterior with the energy of each mode's labeling, and the best state known, of these and ``states``."""
    labelings = np.stack([*posterior.labelings(), *(state.reshape(energy.shape) for state in states)])
    energies = np.array([float(energy.of(labeling)) for labeling in labelings])
    modes = tuple(replace(mode, energy=float(e)) for mode, e in zip(posterior.modes, energies, strict=False))
    best = int(np.argmin(energies))
    return replace(
        posterior, modes=modes, best=_arrays.frozen(labelings[best].copy()), map_energy=float(energies[best])
    )
