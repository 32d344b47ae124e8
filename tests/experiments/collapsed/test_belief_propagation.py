"""Belief propagation with damping is exact on trees."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf
from experiments.collapsed.belief_propagation import damped_log_z


def _tree(rng):
    table = rng.normal(size=(2, 3, 2))
    table[0, 1, 1] = np.inf
    return mf.FactorGraph.from_factors(
        [2, 3, 2, 3, 1],
        [
            ((0, 1, 2), table),
            ((1, 3), rng.normal(size=(3, 3))),
            ((3,), rng.normal(size=3)),
            ((4,), [0.3]),
            ((), np.array(0.5)),
        ],
    )


@pytest.mark.parametrize("seed", range(4))
def test_trees_are_exact(seed):
    graph = _tree(np.random.default_rng(seed))
    assert damped_log_z(graph) == pytest.approx(mf.exact(graph).log_z, abs=1e-6)


def test_damping_changes_the_path_but_not_the_fixed_point():
    graph = mf.datasets.random_ising(4, preset="weller", rng=0)
    few = [damped_log_z(graph, iterations=3, damping=damping) for damping in (0.1, 0.9)]
    many = [damped_log_z(graph, damping=damping) for damping in (0.1, 0.9)]
    assert abs(few[0] - few[1]) > 1e-3
    assert many[0] == pytest.approx(many[1], abs=1e-4)
