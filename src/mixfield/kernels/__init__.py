"""Compiled loops: arrays in, arrays out; the caller allocates, the kernel fills.

A submodule imports nothing of mixfield but other kernels, and is loaded at the first use: ``kernels.tables`` imports
Numba, ``from mixfield import kernels`` does not.

========================  ==============================================================================
factor graphs             `sweeps`, `gibbs`, `binary` and `binary_batch` (two labels), `counts` (cardinality)
                          `coloring`, `hops` (local minima), `clusters`
dense fields              `softmax` (the update), `softmax_gradient`, `lattice`, `coarse`, `separable` (the filters)
                          `eight_bits` (marginals that are kept for gradients)
people                    `silhouettes`, `occupancy`
borders of strokes        `guided_argmax`
cuts of images            `windows`
exact inference           `tables`, `conditionals`
tracking                  `paths`
how they are vectorised   `pixel_modes` and `pixel_rows` (of `softmax`), `channel_sums` (of the filters), `simd`
shared                    `jit` (options of the compiler, types), `jit_cache`, `constants`, `exponential`, `splitmix`
========================  ==============================================================================
"""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mixfield.kernels import binary as binary
    from mixfield.kernels import binary_batch as binary_batch
    from mixfield.kernels import clusters as clusters
    from mixfield.kernels import coarse as coarse
    from mixfield.kernels import coloring as coloring
    from mixfield.kernels import conditionals as conditionals
    from mixfield.kernels import counts as counts
    from mixfield.kernels import eight_bits as eight_bits
    from mixfield.kernels import gibbs as gibbs
    from mixfield.kernels import guided_argmax as guided_argmax
    from mixfield.kernels import hops as hops
    from mixfield.kernels import lattice as lattice
    from mixfield.kernels import occupancy as occupancy
    from mixfield.kernels import paths as paths
    from mixfield.kernels import pixel_rows as pixel_rows
    from mixfield.kernels import separable as separable
    from mixfield.kernels import silhouettes as silhouettes
    from mixfield.kernels import softmax as softmax
    from mixfield.kernels import softmax_gradient as softmax_gradient
    from mixfield.kernels import sweeps as sweeps
    from mixfield.kernels import tables as tables
    from mixfield.kernels import windows as windows


def __getattr__(name: str) -> ModuleType:
    if find_spec(f"{__name__}.{name}") is None:
        raise AttributeError(f"module 'mixfield.kernels' has no attribute {name!r}")
    _load_numba()
    return import_module(f"{__name__}.{name}")


@cache
def _load_numba() -> None:
    """Load Numba without SciPy's linear algebra, which takes as long as the rest of it.

    Numba imports it only to check that it is installed, for kernels with products of matrices.  It is installed, since
    we depend on it, and such kernels would load it when they are compiled.
    """
    linalg = import_module("numba.np.linalg")
    ensure_blas = getattr(linalg, "ensure_blas", None)
    if ensure_blas is None or "numba.np.arraymath" in sys.modules:
        return
    linalg.ensure_blas = lambda: None  # type: ignore[attr-defined]
    try:
        import_module("numba.np.arraymath")
    finally:
        linalg.ensure_blas = ensure_blas  # type: ignore[attr-defined]
