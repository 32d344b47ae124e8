"""Where the mean field of a random graph really splits, against the eigenvalue that predicts it."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.synthetic import Family
from mixfield.datasets.fields import PRESETS
from mixfield.energy.factor_graph import FactorGraph
from mixfield.solvers import starts
from mixfield.solvers.mean_field import Solver
from mixfield.solvers.temperature import critical_temperature
from mixfield.solvers.tilt import Tilt

STARTS = 24
APART = 0.05  # probability by which two mean fields must differ somewhere to be two


def is_split(graph: FactorGraph, temperature: float, *, seed: int = 0) -> bool:
    """Whether random starts lead to more than one mean field."""
    rng = np.random.default_rng(seed)
    allowed = np.ones((STARTS, graph.n, graph.n_labels), bool)
    first = starts.one_hot(starts.labels(allowed, rng), graph.n_labels)
    tilt = Tilt.shared(np.zeros((graph.n, graph.n_labels)), STARTS)
    q = Solver(tolerance=1e-7).ascend(graph, first, tilt, temperature=temperature).q[..., 1]
    return bool((q.max(0) - q.min(0)).max() > APART)


def splitting_temperature(graph: FactorGraph, t_max: float, *, accuracy: float = 2e-3) -> float:
    """The highest temperature at which random starts still lead to two mean fields, by bisection below ``t_max``."""
    low, high = 0.0, 1.1 * t_max
    while high - low > accuracy * t_max:
        middle = (low + high) / 2
        low, high = (middle, high) if is_split(graph, middle) else (low, middle)
    return (low + high) / 2


def without_fields(graph: FactorGraph) -> FactorGraph:
    """The same couplings and no evidence."""
    return FactorGraph.from_pairwise(np.zeros_like(graph.unary), graph.edges, graph.tables[graph.table_of])


def measure(family: Family, instances: int) -> dict[str, Any]:
    """T_max = lambda / 2 and the measured temperatures of some fields, with and without their fields."""
    rows = []
    for seed in range(instances):
        graph = family.draw(seed)
        bare = without_fields(graph)
        t_max = critical_temperature(graph)
        rows.append((t_max, splitting_temperature(bare, t_max), splitting_temperature(graph, t_max)))
    predicted, bare_split, split = np.array(rows).T
    return {
        "family": family.name,
        "field": PRESETS[family.preset][1],
        "predicted": predicted.tolist(),
        "split_without_fields": bare_split.tolist(),
        "split": split.tolist(),
    }
