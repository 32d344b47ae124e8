"""Vectors of float32: the language in which the inner loops of dense fields are written.

LLVM does not vectorise these loops by itself: it keeps running sums in memory, or gathers across rows.  So they are
functions on the classes `Array` (a flat array: `load` and `store`), `Index` (an integer), `Vector` (4 or 8 float32 in
one register, with arithmetic) and `Variable` (a vector that changes inside a loop).  `simd_function` traces such a
function once and makes it callable from kernels: each operator emits an LLVM instruction, ``for i in loop(a, b)`` a
loop around its body, ``for _ in when(condition)`` a branch.

`simd_llvm` does that.  Without the compiler (``NUMBA_DISABLE_JIT=1``) the same functions run on NumPy arrays by
`simd_numpy`, where ``loop`` and ``when`` are ordinary iterators.
"""

# ruff: noqa: F403

from __future__ import annotations

from typing import TYPE_CHECKING

from mixfield.kernels.jit import INTERPRETED

if TYPE_CHECKING or not INTERPRETED:
    from mixfield.kernels.simd_llvm import *
else:
    from mixfield.kernels.simd_numpy import *
