"""Restarts with the compute of a method."""

from __future__ import annotations

from experiments.synthetic.families import Family
from experiments.synthetic.metered import MeteredGraph
from experiments.synthetic.methods import MATCHED
from experiments.synthetic.restarts import BATCH, matched_restarts


def test_more_compute_is_never_worse():
    graph = MeteredGraph.from_graph(Family(7, "mmmf", False, "grid").draw(0))
    budget = {"seconds": [0.0, 0.01, 0.05], "sweeps": [1, 2_000, 20_000]}
    found = matched_restarts(graph, graph.in_reading_order(), dict.fromkeys(MATCHED, budget), 0)
    for method in MATCHED:
        for bounds in found[method].values():
            assert bounds == sorted(bounds)
            assert len(bounds) == 3
        assert found[method]["equal_sweeps"][0] < found[method]["equal_sweeps"][-1]
    assert found["starts"]["by_color"] > BATCH
