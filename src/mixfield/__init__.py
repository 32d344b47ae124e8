"""Weighted mixtures of mean fields for discrete random fields.

>>> import mixfield as mf
>>> graph = mf.FactorGraph.ising([0.0, 0.1, 0.0], [(0, 1), (1, 2)], 2.0)
>>> posterior = mf.infer(graph, n_modes=2)
>>> posterior.labelings().tolist()
[[1, 1, 1], [0, 0, 0]]
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from mixfield.energy.energy import Energy as Energy
    from mixfield.energy.factor_graph import FactorGraph as FactorGraph
    from mixfield.meanfield.mode import Mode as Mode
    from mixfield.meanfield.solver import Solver as Solver
    from mixfield.meanfield.solver import mean_field as mean_field

# Public name -> module that holds it.  Loaded at first use: ``import mixfield`` itself loads neither Numba nor SciPy.
_HOMES = {
    "Energy": "energy.energy",
    "FactorGraph": "energy.factor_graph",
    "Mode": "meanfield.mode",
    "Solver": "meanfield.solver",
    "mean_field": "meanfield.solver",
}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'mixfield' has no attribute {name!r}")
    return getattr(import_module(f"mixfield.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
