"""Quadratic functions of binary variables: E(x) = sum_i a_i x_i + sum_ij b_ij x_i x_j, with x_i = 0 or 1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays
from mixfield.errors import MixfieldError

Floats = NDArray[np.float64]
Qubo = Mapping[tuple[int, int], float] | ArrayLike


class PairwiseTables(NamedTuple):
    """What `FactorGraph.from_pairwise` takes.

    Attributes
    ----------
    unary : (n, 2) costs.
    edges : (m, 2) pairs of variables.
    tables : (m, 2, 2) costs of each pair.
    """

    unary: Floats
    edges: NDArray[np.int64]
    tables: Floats


def qubo_tables(Q: Qubo) -> PairwiseTables:
    """The tables of E(x) = sum_ij Q_ij x_i x_j, of which the diagonal is the costs of single variables.

    Parameters
    ----------
    Q : ``{(i, j): cost}``, or an (n, n) matrix, dense or of scipy.sparse.  Entries (i, j) and (j, i) add up, so that an
        upper triangle and a symmetric matrix of halves are the same; +inf forbids that both variables are 1.
    """
    n, places, costs = _from_mapping(Q) if isinstance(Q, Mapping) else _from_matrix(Q)
    unary = np.zeros((n, 2))
    single = places[:, 0] == places[:, 1]
    np.add.at(unary[:, 1], places[single, 0], costs[single])
    tables = np.zeros((int(np.count_nonzero(~single)), 2, 2))
    tables[:, 1, 1] = costs[~single]
    return PairwiseTables(unary, places[~single], tables)


def _from_mapping(Q: Mapping[Any, Any]) -> tuple[int, NDArray[np.int64], Floats]:
    """Number of variables, (m, 2) places and (m,) costs of a dictionary."""
    for key in Q:
        if not (isinstance(key, tuple) and len(key) == 2 and all(_is_number(i) for i in key)):
            raise MixfieldError(
                f"Q must have keys (i, j) of two integers >= 0, got {key!r}; number the variables, or give a model of "
                "dimod to FactorGraph.from_bqm"
            )
    places = np.array(list(Q), np.int64).reshape(-1, 2)
    return int(places.max(initial=-1)) + 1, places, _arrays.floats("Q", list(Q.values()))


def _is_number(i: object) -> bool:
    return isinstance(i, (int, np.integer)) and not isinstance(i, bool) and bool(0 <= i < 2**31)


def _from_matrix(Q: Any) -> tuple[int, NDArray[np.int64], Floats]:
    """The same of a matrix."""
    if hasattr(Q, "tocoo"):  # of scipy.sparse
        shape, entries = Q.shape, Q.tocoo()
        places, costs = np.stack([entries.row, entries.col], 1), _arrays.floats("Q", entries.data)
    else:
        dense = _arrays.floats("Q", Q)
        shape, places, costs = dense.shape, np.argwhere(dense), dense[np.nonzero(dense)]
    if len(shape) != 2 or shape[0] != shape[1]:
        raise MixfieldError(f"Q must be a square matrix (n, n) or a dictionary {{(i, j): cost}}, got shape {shape}")
    return shape[0], places.astype(np.int64), costs
