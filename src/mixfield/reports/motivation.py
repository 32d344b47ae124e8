"""The motivating example of the paper (section 3, figure 1): mean field, two modes and the exact marginals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixfield import datasets
from mixfield.elimination.junction_tree import exact
from mixfield.energy.factor_graph import FactorGraph
from mixfield.mixture.posterior import MixturePosterior
from mixfield.mixture.tree import infer
from mixfield.solvers.dispatch import critical_temperature
from mixfield.solvers.mean_field import mean_field
from mixfield.solvers.mode import Mode
from mixfield.solvers.options import Solver

STEPS = 3
MIN_FLIP = 0.5  # change of a marginal between the two modes


@dataclass(frozen=True)
class Motivation:
    """The four-zone field with its annealed mean field, its two modes and the exact answer."""

    graph: FactorGraph
    single: Mode
    posterior: MixturePosterior
    true_marginals: NDArray[np.float64]
    true_log_z: float
    true_log_odds: float

    @property
    def flipped(self) -> NDArray[np.bool_]:
        """(H, W) variables whose marginal changes by more than `MIN_FLIP` between the modes."""
        first, second = (mode.marginals[..., 1] for mode in self.posterior.modes[:2])
        return np.abs(first - second) > MIN_FLIP

    @property
    def log_odds(self) -> float:
        """A_1 - A_2, the log-odds of the heavier mode against the other."""
        return self.posterior.modes[0].log_z - self.posterior.modes[1].log_z


def motivation(
    size: int = 16, *, rng: int = 0, solver: Solver | None = None, progress: Callable[[int], None] | None = None
) -> Motivation:
    """Solve the four-zone field by mean field, by two modes, and exactly.

    Parameters
    ----------
    size : side of the grid.
    rng : seed.
    solver : for mean field and the modes.
    progress : called with 1, 2 and `STEPS` after each of the three.
    """
    advance = progress or (lambda _: None)
    graph = datasets.four_zones(size, rng=rng)
    single = mean_field(graph, rng=rng, anneal_from=critical_temperature(graph), solver=solver)
    advance(1)
    posterior = infer(graph, n_modes=2, rng=rng, solver=solver)
    advance(2)
    truth = exact(graph)
    advance(STEPS)
    return Motivation(
        graph, single, posterior, truth.marginals, truth.log_z, _true_log_odds(posterior, truth.marginals)
    )


def _true_log_odds(posterior: MixturePosterior, marginals: NDArray[np.float64]) -> float:
    """The exact log-odds of the cell of the first mode, which is cut at one variable."""
    cut = posterior.modes[0].constraints[0]
    inside = float(marginals.reshape(-1, 2)[cut.group[0], cut.labels[0]])
    return cut.sign * float(np.log(inside) - np.log1p(-inside))
