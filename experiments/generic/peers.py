"""Other packages on one model: pygms and pyAgrum."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from experiments.generic.methods import PYAGRUM, PYGMS_BOUND, PYGMS_BP, PYGMS_MEAN_FIELD, Answer, Run
from mixfield.energy import FactorGraph
from mixfield.errors import MixfieldError

PACKAGES = ("pygms", "pyagrum")
PASSES = 3  # of messages of the weighted mini-buckets


def peer_versions() -> dict[str, str]:
    """The installed versions; an error if one is missing."""
    try:
        return {name: version(name) for name in PACKAGES}
    except PackageNotFoundError as error:
        raise MixfieldError(f"this experiment needs {error.name}; pip install {' '.join(PACKAGES)}") from None


def pygms_runs(path: Path) -> Iterator[Run]:
    """Mean field, belief propagation and the bound of weighted mini-buckets, with several settings."""
    pygms = import_module("pygms")
    model = pygms.GraphModel(pygms.readUai(str(path)))  # none of the methods changes it
    for sweeps in (1, 5, 20):
        yield PYGMS_MEAN_FIELD, f"{sweeps} sweeps", partial(_messages, model, "NMF", sweeps)
    for sweeps in (2, 10):
        yield PYGMS_BP, f"{sweeps} sweeps", partial(_messages, model, "LBP", sweeps)
    for i_bound in (4, 10):
        yield PYGMS_BOUND, f"i-bound {i_bound}", partial(_mini_buckets, model, i_bound)


def _messages(model: Any, name: str, sweeps: int) -> Answer:
    run = getattr(import_module("pygms.messagepass"), name)
    log_z, beliefs = run(model, maxIter=sweeps)
    return float(log_z), [np.asarray(belief.table, np.float64) for belief in beliefs]


def _mini_buckets(model: Any, i_bound: int) -> Answer:
    buckets = import_module("pygms.wmb").WMB(model, elimOrder="minfill", iBound=i_bound)
    for _ in range(PASSES):
        log_z = buckets.msgForward(1.0, 0.1)
        buckets.msgBackward(1.0, 0.1)
    return float(log_z), None


def pyagrum_runs(graph: FactorGraph) -> Iterator[Run]:
    """Exact marginals.

    The tables are given in memory: the reader of UAI files (3.3.1) lets the first variable of a table run fastest.
    """
    pyagrum = import_module("pyagrum")
    pyagrum.setNumberOfThreads(1)
    model = pyagrum.MarkovRandomField()
    for i, count in enumerate(graph.label_counts.tolist()):
        model.add(pyagrum.RangeVariable(str(i), "", 0, count - 1))
    for scope, costs in graph.factors():
        if scope:
            factor = model.addFactor([int(i) for i in scope])
            axes = [scope.index(int(v.name())) for v in reversed(factor.variablesSequence())]
            factor[:] = np.ascontiguousarray(np.transpose(np.exp(costs.min() - costs), axes))
    yield PYAGRUM, "Shafer-Shenoy", partial(_shafer_shenoy, model)


def _shafer_shenoy(model: Any) -> Answer:
    inference = import_module("pyagrum").ShaferShenoyMRFInference(model)
    inference.makeInference()
    return None, [inference.posterior(str(k)).toarray() for k in range(model.size())]
