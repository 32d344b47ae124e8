"""`mixfield.infer` and its control on one field."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import mixfield as mf
from experiments.collapsed.good_states import annealed, minimum_cut
from experiments.measurements import Row
from experiments.quiet import ignore_warnings
from mixfield.io import uai
from mixfield.solvers.belief_propagation import belief_propagation
from mixfield.solvers.starts import one_hot

SOLVER = mf.Solver(threads=1)
FAMILIES = {
    f"{'attractive' if attractive else 'mixed'} {preset}": (preset, attractive)
    for preset in ("weller", "mmmf")
    for attractive in (False, True)
}
GRID, LARGE, MODEL = "13 x 13", "64 x 64", "UAI"
KINDS = (GRID, MODEL, LARGE)
N_MODES = {GRID: 32, LARGE: 16, MODEL: 16}
SEEDS = {GRID: range(100, 120), LARGE: range(100, 102)}
RESTARTS = 30


def tasks(data: Path, kinds: tuple[str, ...] = KINDS) -> dict[str, tuple[str, str, Any]]:
    """Name and values of every measurement: kind, family or model, and seed or file."""
    found: dict[str, tuple[str, str, Any]] = {
        f"{kind} {family} {seed}": (kind, family, seed)
        for kind, seeds in SEEDS.items()
        for seed in seeds
        for family in FAMILIES
    }
    for path in sorted((data / "uai" / "uai2014").glob("*.uai")):
        found[f"{MODEL} {path.stem}"] = (MODEL, path.stem, path)
    return {name: task for name, task in found.items() if task[0] in kinds}


def measure(kind: str, name: str, source: Any) -> Row:
    """Bounds of `infer` and of the control, log Z where it is known, and processor seconds."""
    compile_kernels()
    graph, log_z = _field(kind, name, source)
    with ignore_warnings():
        seconds, posterior = _timed(lambda: mf.infer(graph, N_MODES[kind], solver=SOLVER, estimate=kind == MODEL))
        control_seconds, control = _timed(lambda: _control(kind, graph))
    labelings = posterior.labelings().reshape(len(posterior.modes), -1)
    return {
        "kind": kind,
        "name": name,
        "source": source if isinstance(source, int) else source.name,
        "log_z": log_z,
        "bound": posterior.log_z,
        "estimate": posterior.log_z_estimate,
        "one_mode": max(mode.log_z for mode in posterior.modes),
        "modes": len(labelings),
        "nearest": _nearest(labelings),
        "seconds": round(seconds, 4),
        "control": control,
        "control_seconds": round(control_seconds, 4),
    }


def _field(kind: str, name: str, source: Any) -> tuple[mf.FactorGraph, float | None]:
    """The graph, and its log Z if known."""
    if kind == MODEL:
        evidence = Path(f"{source}.evid")
        return mf.read_uai(source, evidence if evidence.exists() else None), uai.read_pr(f"{source}.PR")
    preset, attractive = FAMILIES[name]
    size = 13 if kind == GRID else 64
    graph = mf.datasets.random_ising(size, preset=preset, attractive=attractive, rng=source)
    return graph, mf.exact(graph).log_z if kind == GRID else None


def _control(kind: str, graph: mf.FactorGraph) -> float:
    """Best of restarts for small grids, damped BP for UAI models, one mean field from a good state for large grids."""
    if kind == MODEL:
        return belief_propagation(graph, tolerance=1e-8).log_z
    if kind == GRID:
        return mf.mean_field(graph.in_reading_order(), restarts=RESTARTS, solver=SOLVER).log_z
    return max(
        mf.mean_field(graph, start=one_hot(state.reshape(graph.shape), 2), solver=SOLVER).log_z
        for state in _good_states(graph)
    )


def _good_states(graph: mf.FactorGraph) -> Iterator[np.ndarray[Any, Any]]:
    yield from annealed(graph)
    cut = minimum_cut(graph)
    if cut is not None:
        yield cut


def _nearest(labelings: np.ndarray[Any, Any]) -> int | None:
    """The fewest variables in which two modes differ; None if there is one mode."""
    apart = [(a != b).sum() for k, a in enumerate(labelings) for b in labelings[:k]]
    return int(min(apart)) if apart else None


def _timed(call: Callable[[], Any]) -> tuple[float, Any]:
    started = time.process_time()
    answer = call()
    return time.process_time() - started, answer


@lru_cache(maxsize=1)
def compile_kernels() -> None:
    """Compile every kernel before times are measured."""
    small = mf.FactorGraph.from_factors([2, 3, 2], [((0, 1, 2), np.ones((2, 3, 2))), ((0, 1), np.ones((2, 3)))])
    with ignore_warnings():
        for graph in (mf.datasets.random_ising(6), small):
            mf.infer(graph, 4, solver=SOLVER)
            mf.exact(graph)
        mf.mean_field(mf.datasets.random_ising(4), restarts=2, solver=SOLVER)
