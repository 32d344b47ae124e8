"""All methods on one UAI model with a limit of time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

import mixfield as mf
from experiments.collapsed.measure import SOLVER, compile_kernels
from experiments.generic.sampling import annealed_sampling
from experiments.measurements import Row
from experiments.quiet import ignore_warnings
from experiments.uai.energies import ANNEALERS, TOULBAR2, annealed, toulbar2
from experiments.uai.scores import mar_error, pr_error
from mixfield.energy import FactorGraph
from mixfield.io import uai
from mixfield.mixture import deadline
from mixfield.solvers.belief_propagation import belief_propagation

BOUND, ESTIMATE, BP, SAMPLING, EXACT = "bound", "estimate", "damped BP", "AIS", "junction tree"
OURS = "mixfield"
ANSWERS, ENERGIES = (BOUND, ESTIMATE, BP, SAMPLING, EXACT), (OURS, TOULBAR2, *ANNEALERS)
MOST_MODES = 128
ITERATIONS, TOLERANCE = 5000, 1e-8  # of belief propagation
MEMORY = 1e9  # bytes of the junction tree
FINISHED = 0.5  # share of the limit, before which no part of `infer` is cut short
TRIAL = 20  # temperatures of the run of AIS that tells how many there is time for

Tasks = dict[str, tuple[Path, float]]
Answer = tuple[float, Sequence[NDArray[np.float64]] | None]  # log Z and marginals


def tasks(data: Path, limits: Sequence[float], only: Sequence[str] = ()) -> Tasks:
    """Name, file and seconds of every measurement."""
    paths = sorted((data / "uai" / "uai2014").glob("*.uai"))
    chosen = [path for path in paths if not only or any(part in path.stem for part in only)]
    return {f"{path.stem} {limit:g}": (path, limit) for limit in limits for path in chosen}


def unfinished(wanted: Tasks, rows: Iterable[Row]) -> Tasks:
    """The tasks of models that had not finished within a smaller limit."""
    finished = {row["model"] for row in rows if row["finished"]}
    return {name: (path, limit) for name, (path, limit) in wanted.items() if path.stem not in finished}


def measure(path: Path, limit: float) -> Row:
    """Scores of log Z and marginals, energies and processor seconds of every method."""
    compile_kernels()
    graph, log_z, marginals = _model(path)
    with ignore_warnings(), np.errstate(all="ignore"):
        spent, posterior = _timed(partial(_infer, graph, limit))
        answers: dict[str, tuple[float, Answer]] = {
            BOUND: (spent, (posterior.log_z, posterior.marginals().reshape(graph.n, -1))),
            ESTIMATE: (spent, (posterior.log_z_estimate, None)),
            BP: _timed(partial(_bethe, graph)),
            SAMPLING: _timed(partial(_sampling, graph, spent)),
            EXACT: _timed(partial(_exact, graph)),
        }
        energies = {OURS: (spent, posterior.map_energy)} | {
            name: _energy(graph, call) for name, call in _searches(graph, limit, spent).items()
        }
    return {
        "model": path.stem,
        "variables": graph.n,
        "limit": limit,
        "modes": len(posterior.modes),
        "finished": max(spent, energies[TOULBAR2][0]) < FINISHED * limit,
        "answers": {name: _scores(*found, log_z, marginals) for name, found in answers.items()},
        "energies": {name: {"seconds": round(t, 3), "energy": energy} for name, (t, energy) in energies.items()},
    }


def _infer(graph: FactorGraph, limit: float) -> mf.MixturePosterior:
    """With a limit in processor seconds: the machine may do other work."""
    with patch.object(deadline, "clock", time.process_time):
        return mf.infer(graph, MOST_MODES, solver=SOLVER, seconds=limit, estimate=True, progress=False)


def _model(path: Path) -> tuple[FactorGraph, float, list[NDArray[np.float64]] | None]:
    """The model given its evidence, log Z and, where known, its marginals."""
    evidence, mar = Path(f"{path}.evid"), Path(f"{path}.MAR")
    graph = mf.read_uai(path, evidence if evidence.exists() else None)
    return graph, uai.read_pr(f"{path}.PR"), uai.read_mar(mar) if mar.exists() else None


def _scores(seconds: float, answer: Answer, log_z: float, marginals: list[NDArray[np.float64]] | None) -> Row:
    found, beliefs = answer
    mar = None if marginals is None else mar_error(beliefs, marginals)
    return {"seconds": round(seconds, 3), "pr": pr_error(found, log_z), "mar": mar}


def _bethe(graph: FactorGraph) -> Answer:
    found = belief_propagation(graph, iterations=ITERATIONS, tolerance=TOLERANCE)
    return found.log_z, list(found.marginals)


def _sampling(graph: FactorGraph, seconds: float) -> Answer:
    """Annealed importance sampling with as many temperatures as there is time for."""
    spent, _ = _timed(partial(annealed_sampling, graph, TRIAL))
    return annealed_sampling(graph, max(TRIAL, int(TRIAL * (seconds / spent - 1.0))))


def _exact(graph: FactorGraph) -> Answer:
    try:
        found = mf.exact(graph, memory=MEMORY)
    except mf.errors.MixfieldError:
        return float("nan"), None
    return found.log_z, list(found.marginals.reshape(graph.n, -1))


def _searches(graph: FactorGraph, limit: float, spent: float) -> dict[str, Callable[[], NDArray[np.int64] | None]]:
    """Other searches for the state of lowest energy."""
    annealers: dict[str, Callable[[], NDArray[np.int64] | None]] = {
        package: partial(annealed, graph, package, spent) for package in ANNEALERS
    }
    return {TOULBAR2: partial(toulbar2, graph, max(1, round(limit))), **annealers}


def _energy(graph: FactorGraph, call: Callable[[], NDArray[np.int64] | None]) -> tuple[float, float | None]:
    """Processor seconds, and the energy of the labeling found; None without one."""
    seconds, labels = _timed(call)
    return seconds, None if labels is None else float(graph.of(labels.reshape(graph.shape)))


def _timed(call: Callable[[], Any]) -> tuple[float, Any]:
    started = time.process_time()
    answer = call()
    return time.process_time() - started, answer
