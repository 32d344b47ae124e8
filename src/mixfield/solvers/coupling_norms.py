"""A certified upper bound of T_max for large graphs, from the norms of their tables.

T_max is half the largest eigenvalue of -J, see `mixfield.solvers.temperature`.  J has a block for each two variables
that share factors: the sum of their tables, averaged over the labels of all other variables, without the means of rows
and columns.  With N_ij the spectral norm of the block, or the sum of the norms of its tables,

    lambda(-J) <= rho(N) <= max_i (N x)_i / x_i    for every x > 0  (Collatz and Wielandt),

and power iterations on x, one number per variable, bring the right side close to rho(N).
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mixfield.energy.factor_graph import FactorGraph
from mixfield.energy.flattening import EqualFactors

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Floats = NDArray[np.float64]

STEPS = 20  # power iterations; on random grids the bound is then within 5 % of T_max


def t_max_bound(graph: FactorGraph, allowed: NDArray[np.bool_]) -> float:
    """An upper bound of T_max of a graph without forbidden joint states, over the ``allowed`` (n, L) labels."""
    return spectral_radius_bound(coupling_norms(graph, allowed)) / 2


def spectral_radius_bound(matrix: csr_array) -> float:
    """An upper bound of the largest eigenvalue of a symmetric matrix (n, n) without negative entries."""
    x, best = np.ones(matrix.shape[0]), np.inf
    for _ in range(STEPS):
        image = matrix @ x
        largest = float((image / x).max(initial=0.0))
        best = min(best, largest)
        x = image + (0.5 * largest + 1e-300) * x  # the shift keeps x positive, and damps the eigenvalue -rho of grids
        x /= x.max(initial=1e-300)
        x = np.maximum(x, 1e-100)
    return best


def coupling_norms(graph: FactorGraph, allowed: NDArray[np.bool_]) -> csr_array:
    """(n, n) the matrix N of a graph; zero for variables with one allowed label."""
    from scipy.sparse import csr_array

    parts = [(graph.edges, _couplings(graph.tables)[graph.table_of])]
    weights = allowed / allowed.sum(1, keepdims=True)
    for factors in graph.larger_factors:
        parts += [
            (factors.scopes[:, pair], _couplings(_averaged(factors, pair, weights)))
            for pair in map(list, combinations(range(factors.scopes.shape[1]), 2))
        ]
    pairs, couplings = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    couplings = np.where((allowed.sum(1) > 1)[pairs].all(1), couplings, 0.0)
    rows, columns = np.concatenate([pairs, pairs[:, ::-1]]).T
    return abs(csr_array((np.concatenate([couplings, couplings]), (rows, columns)), shape=(graph.n, graph.n)))


def _averaged(factors: EqualFactors, pair: list[int], weights: Floats) -> Floats:
    """(F, L_a, L_b) tables over two of their axes, averaged over the others with ``weights`` (n, L)."""
    averaged = factors.tables
    for axis in reversed(range(factors.scopes.shape[1])):
        if axis not in pair:
            size = averaged.shape[1 + axis]
            moved = np.moveaxis(averaged, 1 + axis, -1)
            own = weights[factors.scopes[:, axis], :size]
            averaged = (moved @ own.reshape(len(own), *[1] * (moved.ndim - 3), size, 1))[..., 0]
    return averaged


def _couplings(tables: Floats) -> Floats:
    """(t,) spectral norms of tables (t, L, L') without the means of their rows and columns.

    Those of two binary variables have a sign, so that several tables of the same two add up before the norm is taken.
    """
    centred = tables - tables.mean(1, keepdims=True)
    centred -= centred.mean(2, keepdims=True)
    if centred.shape[1:] == (2, 2):
        return np.asarray(2.0 * centred[:, 0, 0])  # of c [[1, -1], [-1, 1]]
    return np.asarray(np.linalg.norm(centred, ord=2, axis=(1, 2)))
