"""All methods on one random field."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import lru_cache

from experiments.measurements import Row
from experiments.quiet import ignore_warnings
from experiments.synthetic.curve import mode_curve
from experiments.synthetic.families import Family
from experiments.synthetic.metered import ONE_THREAD, MeteredGraph
from experiments.synthetic.methods import BASELINE, BASELINE_OPTIONS, COLLAPSED, DEFAULT, METHODS
from experiments.synthetic.restarts import matched_restarts
from mixfield import exact
from mixfield.datasets import random_ising
from mixfield.energy import FactorGraph
from mixfield.errors import TooLargeError
from mixfield.solvers import mean_field

MAX_MODES = {7: 200, 13: 128}  # the largest numbers of modes in the paper, by size
MEMORY = 2e8  # bytes for exact log Z: enough for 7 x 7, and for grids of 13 x 13


def mode_counts(n_modes: int) -> list[int]:
    """Numbers of modes at which curves are measured: powers of two, and ``n_modes``."""
    return sorted({2**k for k in range(n_modes.bit_length()) if 2**k <= n_modes} | {n_modes})


def tasks(families: Sequence[Family], instances: int, n_modes: int) -> dict[str, tuple[Family, int, int]]:
    """Name and values of every measurement.

    Instance by instance, all families of one before the next: an interrupted run has as many instances of each.
    """
    return {
        f"{family.name}-{most}-{instance:03d}": (family, instance, most)
        for instance in range(instances)
        for family in families
        for most in [min(n_modes, MAX_MODES[family.size])]
    }


def measure(family: Family, instance: int, n_modes: int) -> Row:
    """Bounds, processor seconds and sweeps of every method at every number of modes, on one field."""
    graph = MeteredGraph.from_graph(family.draw(instance))
    in_order = graph.in_reading_order()
    counts = mode_counts(n_modes)
    with ignore_warnings():
        _compile()
        curves = {name: mode_curve(graph, counts, instance, options) for name, options in METHODS.items()}
        curves[BASELINE] = mode_curve(in_order, counts, instance, BASELINE_OPTIONS)
        single = mean_field(in_order, rng=instance, solver=ONE_THREAD).log_z
        restarts = matched_restarts(graph, in_order, curves, instance)
    return {
        "family": asdict(family),
        "instance": instance,
        "modes": counts,
        "exact_log_z": _exact_log_z(graph),
        "mean_field": single,
        "curves": curves,
        "restarts": restarts,
    }


def with_collapsed(row: Row) -> Row:
    """The measurements of a field with the curve of collapsed mean fields, which earlier versions did not have."""
    graph = MeteredGraph.from_graph(Family(**row["family"]).draw(row["instance"]))
    with ignore_warnings():
        _compile()
        curve = mode_curve(graph, row["modes"], row["instance"], METHODS[COLLAPSED])
    return {**row, "curves": {**row["curves"], COLLAPSED: curve}}


@lru_cache(maxsize=1)
def _compile() -> None:
    """Compile the kernels before times are measured."""
    for name in ("OURS-MAXW, L = 3", DEFAULT, COLLAPSED):
        mode_curve(MeteredGraph.from_graph(random_ising(4, rng=1)), [1, 2, 4], 0, METHODS[name])


def _exact_log_z(graph: FactorGraph) -> float | None:
    try:
        return exact(graph, memory=MEMORY).log_z
    except TooLargeError:
        return None
