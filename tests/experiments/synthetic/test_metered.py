"""Sweeps are counted: those of mean field as the mode reports, those of annealing one per temperature."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf
from experiments.synthetic.families import Family
from experiments.synthetic.metered import ONE_THREAD, MeteredGraph
from mixfield.solvers import solver_for


@pytest.fixture
def graph():
    return MeteredGraph.from_graph(Family(7, "mmmf", False, "grid").draw(0))


def test_sweeps_are_counted(graph):
    mode = mf.mean_field(graph, solver=ONE_THREAD)
    assert graph.meter.sweeps == mode.iterations
    solver_for(graph).cooled_starts(3, np.zeros((graph.n, 2)), np.geomspace(2, 1, 10), np.random.default_rng(0))
    assert graph.meter.sweeps == mode.iterations + 30


def test_results_are_those_of_the_plain_graph(graph):
    plain = Family(7, "mmmf", False, "grid").draw(0)
    assert mf.infer(graph, 3).log_z == mf.infer(plain, 3).log_z


def test_both_orders_share_the_meter(graph):
    mode = mf.mean_field(graph.in_reading_order(), solver=ONE_THREAD)
    assert graph.meter.sweeps == mode.iterations
    assert mode.log_z == mf.mean_field(Family(7, "mmmf", False, "grid").draw(0).in_reading_order()).log_z
