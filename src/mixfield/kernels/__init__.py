"""Compiled loops: arrays in, arrays out.

Each submodule holds plain Numba functions and imports nothing of mixfield but other kernels.  They are loaded at the
first use (``kernels.tables.add`` imports Numba, ``from mixfield import kernels`` does not).
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mixfield.kernels import binary as binary
    from mixfield.kernels import coarse as coarse
    from mixfield.kernels import coloring as coloring
    from mixfield.kernels import counts as counts
    from mixfield.kernels import lattice as lattice
    from mixfield.kernels import paths as paths
    from mixfield.kernels import pixel_rows as pixel_rows
    from mixfield.kernels import separable as separable
    from mixfield.kernels import silhouettes as silhouettes
    from mixfield.kernels import softmax as softmax
    from mixfield.kernels import sweeps as sweeps
    from mixfield.kernels import tables as tables


_SUBMODULES = (
    "binary",
    "coarse",
    "coloring",
    "counts",
    "lattice",
    "paths",
    "pixel_rows",
    "separable",
    "silhouettes",
    "softmax",
    "sweeps",
    "tables",
)


def __getattr__(name: str) -> ModuleType:
    if name not in _SUBMODULES:
        raise AttributeError(f"module 'mixfield.kernels' has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")
