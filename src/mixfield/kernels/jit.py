"""How kernels are compiled: ``numba.njit`` with the options that all of them share, and its type.

Numba has no type hints, so that a function under ``njit`` would accept anything.  `jit` keeps the annotations of the
function below it.  Kernels are compiled at the first call, saved (see `jit_cache`), and release the GIL; a division by
zero gives infinity, as in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numba import njit
from numba.core import config
from numpy.typing import NDArray

from mixfield.kernels.jit_cache import enable_cache

AnyFloats = NDArray[np.floating[Any]]
Bools = NDArray[np.bool_]
Float32s = NDArray[np.float32]
Floats = NDArray[np.float64]
Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
UInt32s = NDArray[np.uint32]
UInt64s = NDArray[np.uint64]
Integer = int | np.integer[Any]
Real = float | np.floating[Any]

INTERPRETED = bool(getattr(config, "DISABLE_JIT", False))  # NUMBA_DISABLE_JIT=1

_Kernel = TypeVar("_Kernel", bound=Callable[..., Any])


def jit(**options: Any) -> Callable[[_Kernel], _Kernel]:
    """A decorator that compiles a kernel; ``options`` are those of ``numba.njit``."""
    compiled: Callable[[_Kernel], _Kernel] = njit(nogil=True, error_model="numpy", **options)

    def decorate(function: _Kernel) -> _Kernel:
        kernel = compiled(function)
        if not INTERPRETED:
            enable_cache(kernel)
        return kernel

    return decorate
