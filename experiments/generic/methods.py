"""Our methods, restarts, and a sampler, on one model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

import mixfield as mf
from experiments.generic.sampling import annealed_sampling

Answer = tuple[float | None, list[NDArray[np.float64]] | None]  # log Z and the marginals of each variable
Run = tuple[str, str, Callable[[], Answer]]  # method, setting, and the call that is timed

SOLVER = mf.Solver(threads=1)
OURS, RESTARTS, SAMPLER = "mixfield", "mean field, restarts", "tempered Gibbs (AIS)"
PYGMS_MEAN_FIELD, PYGMS_BP, PYGMS_BOUND = "pygms mean field", "pygms BP", "pygms bound (WMB)"
PYAGRUM, EXACT = "pyAgrum, exact marginals", "mixfield, exact"
RETURNS_MODES = (OURS, RESTARTS, PYGMS_MEAN_FIELD)
METHODS = (OURS, RESTARTS, PYGMS_MEAN_FIELD, PYGMS_BP, PYGMS_BOUND, SAMPLER, PYAGRUM, EXACT)  # rows of the table


def runs(graph: mf.FactorGraph) -> Iterator[Run]:
    """Every method of ours with every setting."""
    for n_modes in (1, 4, 16, 64):
        yield OURS, f"{n_modes} modes", partial(mixture, graph, n_modes)
    for count in (1, 30, 300):
        yield RESTARTS, f"{count} starts", partial(restarts, graph, count)
    for steps in (100, 1000):
        yield SAMPLER, f"{steps} temperatures", partial(annealed_sampling, graph, steps)
    yield EXACT, "junction tree", partial(exact, graph)


def mixture(graph: mf.FactorGraph, n_modes: int) -> Answer:
    posterior = mf.infer(graph, n_modes, solver=SOLVER)
    return posterior.log_z, list(posterior.marginals().reshape(graph.n, -1))


def restarts(graph: mf.FactorGraph, count: int) -> Answer:
    """The best of cold starts, updated in reading order."""
    mode = mf.mean_field(graph.in_reading_order(), restarts=count, solver=SOLVER)
    return mode.log_z, list(mode.marginals.reshape(graph.n, -1))


def exact(graph: mf.FactorGraph) -> Answer:
    found = mf.exact(graph)
    return found.log_z, list(found.marginals.reshape(graph.n, -1))
