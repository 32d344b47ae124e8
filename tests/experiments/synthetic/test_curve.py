"""One growing tree gives the results of `infer` for every number of modes."""

from __future__ import annotations

import pytest

import mixfield as mf
from experiments.synthetic.curve import mode_curve
from experiments.synthetic.families import Family
from experiments.synthetic.metered import ONE_THREAD, MeteredGraph
from experiments.synthetic.methods import BASELINE_OPTIONS, METHODS
from mixfield.baselines import clamp_maxw


@pytest.mark.parametrize("method", ["OURS-RANDOM, L = 3", "mf.infer"])
def test_one_tree_gives_the_curve(method):
    """Bound and sweeps at each number of modes are those of the run that stops there."""
    graph, options = MeteredGraph.from_graph(Family(7, "weller", False, "random").draw(3)), METHODS[method]
    counts = (1, 2, 5, 12)
    curve = mode_curve(graph, counts, 5, options)
    for count, log_z, sweeps in zip(counts, curve["log_z"], curve["sweeps"], strict=True):
        graph.meter.sweeps = 0
        single = mf.infer(graph, count, rng=5, solver=ONE_THREAD, **{"collapse": False, **options})
        assert single.log_z == pytest.approx(log_z, abs=1e-12)
        assert graph.meter.sweeps == sweeps
    assert curve["found"] == len(single.modes)
    assert curve["best_mode"] == single.modes[0].log_z


def test_the_baseline_is_single_variable_clamping(small_families):
    graph = small_families[0].draw(1)
    curve = mode_curve(MeteredGraph.from_graph(graph).in_reading_order(), [1, 4, 6], 1, BASELINE_OPTIONS)
    for count, log_z in zip([1, 4, 6], curve["log_z"], strict=True):
        assert clamp_maxw(graph, count, rng=1).log_z == pytest.approx(log_z, abs=1e-12)
