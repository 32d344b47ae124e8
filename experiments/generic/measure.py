"""All methods on one UAI model: errors and processor time."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import mixfield as mf
from experiments.generic.methods import Answer, Run, exact, mixture, restarts, runs
from experiments.generic.peers import pyagrum_runs, pygms_runs
from experiments.generic.sampling import annealed_sampling
from experiments.measurements import Row
from experiments.quiet import ignore_warnings
from mixfield.io import uai

# without evidence, at most 300 variables: pygms takes seconds, not hours
MODELS = (
    *("Grids_11", "Grids_13", "Segmentation_11", "Segmentation_13", "Segmentation_15"),
    *("DBN_11", "DBN_13", "DBN_15", "CSP_11", "CSP_12", "ObjectDetection_11"),
)


def tasks(data: Path) -> dict[str, tuple[Path]]:
    """Name and file of every model."""
    return {name: (data / "uai" / "uai2014" / f"{name}.uai",) for name in MODELS}


def measure(path: Path) -> Row:
    """Errors and processor seconds of every method on one model.

    Errors: of log Z in nats, and the mean over variables of the total variation between their marginals and the exact
    ones; None where a method fails.
    """
    compile_kernels()
    log_z, marginals = uai.read_pr(f"{path}.PR"), uai.read_mar(f"{path}.MAR")
    rows = []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # of all packages
        for method, setting, call in _all_runs(path):
            seconds, (found, beliefs) = _timed(call)
            rows.append(
                {
                    "method": method,
                    "setting": setting,
                    "seconds": round(seconds, 5),
                    "log_z_error": None if found is None else _finite(abs(found - log_z)),
                    "marginal_error": None if beliefs is None else _finite(total_variation(beliefs, marginals)),
                }
            )
    return {"model": path.stem, "variables": len(marginals), "log_z": log_z, "rows": rows}


def _all_runs(path: Path) -> Iterator[Run]:
    graph = mf.read_uai(path)
    yield from runs(graph)
    yield from pyagrum_runs(graph)
    yield from pygms_runs(path)


def _timed(call: Callable[[], Answer]) -> tuple[float, Answer]:
    """Processor seconds and the answer; (None, None) from a method that fails, which is a result."""
    started = time.process_time()
    try:
        answer = call()
    except Exception:
        answer = None, None
    return time.process_time() - started, answer


def total_variation(found: list[NDArray[np.float64]], exact: list[NDArray[np.float64]]) -> float:
    """Mean over variables; marginals of ``found`` may be padded."""
    pairs = zip(found, exact, strict=True)
    return float(np.mean([0.5 * np.abs(np.asarray(f)[: len(t)] - t).sum() for f, t in pairs]))


def _finite(value: float) -> float | None:
    return round(float(value), 6) if np.isfinite(value) else None


@lru_cache(maxsize=1)
def compile_kernels() -> None:
    """Compile every kernel before times are measured."""
    small = mf.FactorGraph.from_factors([2, 3, 2], [((0, 1, 2), np.ones((2, 3, 2))), ((0, 1), np.ones((2, 3)))])
    with ignore_warnings():
        for graph in (mf.datasets.random_ising(3), small):
            mixture(graph, 2)
            restarts(graph, 2)
            exact(graph)
            annealed_sampling(graph, 3)
