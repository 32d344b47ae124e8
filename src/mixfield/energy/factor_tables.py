"""Tables of costs on the way into a factor graph: checked, padded, each pair of variables once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays
from mixfield.errors import InfeasibleError, MixfieldError, TooLargeError
from mixfield.kernels.constants import LARGEST_SCOPE

Floats = NDArray[np.float64]
Int64s = NDArray[np.int64]
Factor = tuple[tuple[int, ...], Floats]

LARGEST_PADDED = 16e9  # bytes of padded tables
FORBIDDEN_EXCESS = 20.0  # cost of a forbidden state beyond the largest finite one, to measure interactions


class PaddedTables(NamedTuple):
    """Factors by the number of their variables; tables of one and two are padded to the largest label count L.

    Attributes
    ----------
    unary : (n, L) costs, ``+inf`` for labels that a variable does not have.
    edges, table_of, tables : pairs of variables, see `merge_edges`.
    higher : factors of three and more variables, and of two whose tables would be too large if they were padded.
    constant : sum of the factors without variables.
    """

    unary: Floats
    edges: Int64s
    table_of: Int64s
    tables: Floats
    higher: tuple[Factor, ...]
    constant: float


def check_factor(k: int, scope: Sequence[int], values: ArrayLike, label_counts: Int64s) -> Factor:
    """Variables and table of factor ``k``, without the axes of variables that have one label."""
    variables = _arrays.integers(f"variables of factor {k}", scope, low=0, high=max(len(label_counts), 1)).ravel()
    if len(set(variables.tolist())) != len(variables):
        raise MixfieldError(f"factor {k} names a variable twice: {tuple(variables.tolist())}")
    if len(variables) > LARGEST_SCOPE:
        raise MixfieldError(f"factor {k} spans {len(variables)} variables; at most {LARGEST_SCOPE} are supported")
    table = _arrays.floats(f"table of factor {k}", values)
    expected = tuple(int(c) for c in label_counts[variables])
    _arrays.check_shape(f"table of factor {k}", table, expected, f"to match variables {tuple(variables.tolist())}")
    several = [a for a, size in enumerate(expected) if size > 1]
    if 0 < len(several) < len(variables) or (len(variables) > 1 and not several):
        kept = several or [0]
        return tuple(int(variables[a]) for a in kept), table.reshape([expected[a] for a in kept]).copy()
    return tuple(int(i) for i in variables), table.copy()


def pad_factors(label_counts: Int64s, factors: Sequence[Factor]) -> PaddedTables:
    """Sort checked factors by the number of their variables, and pad the small ones."""
    n, most = len(label_counts), int(label_counts.max(initial=1))
    if 8 * most * n > LARGEST_PADDED:
        raise TooLargeError(
            f"{n} variables with up to {most} labels take more than {LARGEST_PADDED:.0e} bytes, since all are padded "
            "to the largest label count; merge or drop labels"
        )
    pad_pairs = 8 * most * most * sum(len(variables) == 2 for variables, _ in factors) <= LARGEST_PADDED
    unary = np.where(np.arange(most) < label_counts[:, None], 0.0, np.inf)
    pairs, pairwise, higher, constant = [], [], [], 0.0
    for variables, table in factors:
        if len(variables) == 0:
            constant += float(table)
        elif len(variables) == 1:
            unary[variables[0], : table.shape[0]] += table
        elif len(variables) == 2 and pad_pairs:
            padded = np.zeros((most, most))
            padded[: table.shape[0], : table.shape[1]] = table
            pairs.append(variables)
            pairwise.append(padded)
        else:
            higher.append((variables, _arrays.frozen(table)))
    if constant == np.inf:
        raise InfeasibleError("a constant factor of infinite cost forbids every state")
    edges, tables = np.array(pairs, np.int64).reshape(-1, 2), np.array(pairwise).reshape(-1, most, most)
    return PaddedTables(unary, *merge_edges(edges, np.arange(len(pairs)), tables), tuple(higher), constant)


def merge_edges(edges: Int64s, table_of: Int64s, tables: Floats) -> tuple[Int64s, Int64s, Floats]:
    """Every pair once, the smaller variable first; the tables of repeated pairs are added up.

    Parameters
    ----------
    edges : (m, 2) pairs of variables.
    table_of : (m,) which table belongs to each.
    tables : (t, L, L) costs, rows are the labels of the first variable.
    """
    loops = np.flatnonzero(edges[:, 0] == edges[:, 1])
    if len(loops):
        raise MixfieldError(
            f"edges must join two different variables, edge {loops[0]} joins {edges[loops[0], 0]} to itself"
        )
    reversed_ = edges[:, 0] > edges[:, 1]
    pairs = np.sort(edges, axis=1)
    if reversed_.any():
        if len(tables) == len(edges) and np.array_equal(table_of, np.arange(len(edges))):
            tables = np.where(reversed_[:, None, None], tables.transpose(0, 2, 1), tables)
        else:
            tables = np.concatenate([tables, tables.transpose(0, 2, 1)])
            table_of = table_of + reversed_ * (len(tables) // 2)
    key = pairs[:, 0] * (pairs.max(initial=0) + 1) + pairs[:, 1]
    if not np.any(np.diff(np.sort(key)) == 0):
        return pairs, table_of, tables
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    unique = pairs[first]
    total = np.zeros((len(unique), *tables.shape[1:]))
    np.add.at(total, inverse, tables[table_of])
    return unique, np.arange(len(unique)), total


def interaction(table: Floats) -> float:
    """Half the spread of what a table adds beyond functions of single variables: |J| of a spin coupling."""
    largest = np.nan_to_num(table, posinf=0.0).max()
    centred = np.where(np.isinf(table), largest + FORBIDDEN_EXCESS, table)
    for axis in range(centred.ndim):
        centred = centred - centred.mean(axis=axis, keepdims=True)
    return float(centred.max() - centred.min()) / 2


def interaction_sums(n: int, edges: Int64s, tables: Floats, table_of: Int64s, higher: Sequence[Factor]) -> Floats:
    """(n,) sum of `interaction` over the tables of each variable."""
    per_edge = np.array([interaction(table) for table in tables])[table_of]
    sums = np.zeros(n)
    np.add.at(sums, edges[:, 0], per_edge)
    np.add.at(sums, edges[:, 1], per_edge)
    for variables, table in higher:
        sums[list(variables)] += interaction(table)
    return sums
