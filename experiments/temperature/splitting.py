"""The temperature at which the mean field of a random graph splits, against T_max = lambda / 2."""

from __future__ import annotations

import numpy as np

from experiments.measurements import Row
from experiments.quiet import ignore_warnings
from experiments.synthetic.families import Family
from experiments.temperature.bisection import last_true
from mixfield.datasets import PRESETS
from mixfield.energy import FactorGraph
from mixfield.solvers import Solver, critical_temperature, mean_field

STARTS = 24
DISTINCT = 0.05  # difference of some marginal from which two mean fields count as two
SOLVER = Solver(tolerance=1e-7)


def is_split(graph: FactorGraph, temperature: float, *, seed: int = 0) -> bool:
    """Whether random one-hot starts lead to more than one mean field."""
    labels = np.random.default_rng(seed).random((STARTS, graph.n, graph.n_labels)).argmax(-1)
    low = high = None
    for start in np.eye(graph.n_labels)[labels]:
        with ignore_warnings():
            mode = mean_field(
                graph,
                temperature=temperature,
                start=start.reshape(*graph.shape, graph.n_labels),
                solver=SOLVER,
            )
        q = mode.marginals[..., 1]
        low = q if low is None else np.minimum(low, q)
        high = q if high is None else np.maximum(high, q)
        if (high - low).max() > DISTINCT:
            return True
    return False


def splitting_temperature(graph: FactorGraph, t_max: float, *, accuracy: float = 2e-3) -> float:
    """The highest temperature at which the graph `is_split`, with an accuracy relative to ``t_max``."""
    return last_true(lambda temperature: is_split(graph, temperature), 1.1 * t_max, accuracy * t_max)


def without_fields(graph: FactorGraph) -> FactorGraph:
    """The same couplings without unaries."""
    return FactorGraph.from_pairwise(np.zeros_like(graph.unary), graph.edges, graph.tables[graph.table_of])


def measure(family: Family, instances: int) -> Row:
    """T_max and the measured splitting temperatures of some fields of a family, with and without their unaries."""
    rows = []
    for seed in range(instances):
        graph = family.draw(seed)
        t_max = critical_temperature(graph)
        rows.append((t_max, splitting_temperature(without_fields(graph), t_max), splitting_temperature(graph, t_max)))
    predicted, without, split = np.array(rows).T
    return {
        "family": family.name,
        "field": PRESETS[family.preset][1],
        "predicted": predicted.tolist(),
        "split_without_fields": without.tolist(),
        "split": split.tolist(),
    }
