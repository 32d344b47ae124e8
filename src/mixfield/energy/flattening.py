"""From tables to the flat arrays that the kernels walk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays, kernels
from mixfield.errors import MixfieldError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from mixfield.kernels.binary import BinaryGraph
    from mixfield.kernels.sweeps import FlatGraph

Floats = NDArray[np.float64]
Int64s = NDArray[np.int64]
Factor = tuple[tuple[int, ...], Floats]


class Tabular(Protocol):
    """What is flattened: see `mixfield.FactorGraph`."""

    @property
    def n(self) -> int: ...
    @property
    def n_labels(self) -> int: ...
    @property
    def edges(self) -> Int64s: ...
    @property
    def table_of(self) -> Int64s: ...
    @property
    def tables(self) -> Floats: ...
    @property
    def higher(self) -> tuple[Factor, ...]: ...
    @property
    def colors(self) -> NDArray[np.int32]: ...
    @property
    def color_start(self) -> NDArray[np.int32]: ...


def check_factor(
    k: int, scope: Sequence[int], values: ArrayLike, label_counts: Int64s
) -> tuple[tuple[int, ...], Floats]:
    """Variables and table of factor ``k``, judged, without axes of variables that have one label."""
    variables = _arrays.integers(f"variables of factor {k}", scope, low=0, high=max(len(label_counts), 1)).ravel()
    if len(set(variables.tolist())) != len(variables):
        raise MixfieldError(f"factor {k} names a variable twice: {tuple(variables.tolist())}")
    if len(variables) > 60:
        raise MixfieldError(f"factor {k} spans {len(variables)} variables; at most 60 are supported")
    table = _arrays.floats(f"table of factor {k}", values)
    wanted = tuple(int(c) for c in label_counts[variables])
    _arrays.check_shape(f"table of factor {k}", table, wanted, f"to match variables {tuple(variables.tolist())}")
    several = [a for a, size in enumerate(wanted) if size > 1]
    if 0 < len(several) < len(variables) or (len(variables) > 1 and not several):
        kept = several or [0]
        return tuple(int(variables[a]) for a in kept), table.reshape([wanted[a] for a in kept]).copy()
    return tuple(int(i) for i in variables), table.copy()


def merge_edges(edges: Int64s, table_of: Int64s, tables: Floats) -> tuple[Int64s, Int64s, Floats]:
    """Every pair once, smaller variable first, tables of repeated pairs added up."""
    loops = np.flatnonzero(edges[:, 0] == edges[:, 1])
    if len(loops):
        raise MixfieldError(
            f"edges must join two different variables, edge {loops[0]} joins {edges[loops[0], 0]} to itself"
        )
    turned = edges[:, 0] > edges[:, 1]
    pairs = np.sort(edges, axis=1)
    if turned.any():
        if len(tables) == len(edges) and np.array_equal(table_of, np.arange(len(edges))):
            tables = np.where(turned[:, None, None], tables.transpose(0, 2, 1), tables)
        else:
            tables = np.concatenate([tables, tables.transpose(0, 2, 1)])
            table_of = table_of + turned * (len(tables) // 2)
    key = pairs[:, 0] * (pairs.max(initial=0) + 1) + pairs[:, 1]
    if not np.any(np.diff(np.sort(key)) == 0):
        return pairs, table_of, tables
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    unique = pairs[first]
    total = np.zeros((len(unique), *tables.shape[1:]))
    np.add.at(total, inverse, tables[table_of])
    return unique, np.arange(len(unique)), total


def adjacency(n: int, edges: Int64s, scopes: Sequence[tuple[int, ...]]) -> csr_array:
    """Which pairs of variables share a factor, as a symmetric sparse matrix."""
    from scipy.sparse import csr_array

    cliques = [pair for scope in scopes for pair in combinations(scope, 2)]
    pairs = np.concatenate([edges, np.array(cliques, np.int64).reshape(-1, 2)])
    source, target = np.concatenate([pairs, pairs[:, ::-1]]).T
    return csr_array((np.ones(len(source), np.int8), (source, target)), shape=(n, n))


def color(neighbours: csr_array) -> NDArray[np.int32]:
    """A colour for each variable such that neighbours differ."""
    colors = np.zeros(neighbours.shape[0], np.int32)
    kernels.coloring.color(neighbours.indptr.astype(np.int64), neighbours.indices.astype(np.int32), colors)
    return colors


def flatten(graph: Tabular, translate: Callable[[Floats], Floats]) -> FlatGraph:
    """The arrays of a graph, each table passed through ``translate`` first."""
    order = np.argsort(graph.colors, kind="stable").astype(np.int32)
    start, neighbour, half_edge = _half_edges(graph, order)
    table_of, tables = _oriented_tables(graph, half_edge, translate)
    factor_start, factor, slot = _incidence(graph, order)
    scopes = [variables for variables, _ in graph.higher]
    values = [translate(table).ravel() for _, table in graph.higher]
    return kernels.sweeps.FlatGraph(
        order=order,
        start=start,
        neighbour=neighbour,
        table_of=table_of,
        tables=tables,
        factor_start=factor_start,
        factor=factor,
        slot=slot,
        scope_start=_starts([len(scope) for scope in scopes]).astype(np.int32),
        scope=np.array([i for scope in scopes for i in scope], np.int32),
        dims=np.array([size for _, table in graph.higher for size in table.shape], np.int32),
        value_start=_starts([len(v) for v in values]),
        values=np.concatenate(values) if values else np.zeros(0),
    )


@dataclass(frozen=True)
class BinaryForm:
    """Costs of a binary pairwise graph as ``sum_i (u_i(1) - u_i(0) + slope_i) x_i + sum_ij w_ij x_i x_j + constant``.

    ``u`` are the unary costs, which stay outside (clamps change them); the constant is that of the edges alone.
    The arrays number the variables colour by colour: place ``s`` is variable ``order[s]``.
    """

    graph: BinaryGraph
    order: NDArray[np.int32]
    slope: Floats
    constant: float


def binary_form(graph: Tabular, flat: FlatGraph) -> BinaryForm:
    """The logit form of a flat binary graph."""
    t = flat.tables
    # a table [[a, b], [c, d]] costs a + (c - a) x_i + (b - a) x_j + (a - b - c + d) x_i x_j
    weight = (t[:, 0, 0] - t[:, 0, 1] - t[:, 1, 0] + t[:, 1, 1])[flat.table_of]
    rise = (t[:, 1, 0] - t[:, 0, 0])[flat.table_of]
    row = np.repeat(np.arange(graph.n), np.diff(flat.start))
    slope: Floats = np.bincount(row, rise, minlength=graph.n).astype(np.float64)
    constant = 0.5 * float(t[flat.table_of, 0, 0].sum())  # each edge stands in both directions
    place = np.empty(graph.n, np.int32)
    place[flat.order] = np.arange(graph.n, dtype=np.int32)
    binary = kernels.binary.BinaryGraph(graph.color_start, flat.start, place[flat.neighbour], weight)
    return BinaryForm(binary, flat.order, slope, constant)


def _starts(sizes: ArrayLike) -> Int64s:
    return np.concatenate([[0], np.cumsum(np.asarray(sizes, np.int64))]).astype(np.int64)


def _half_edges(graph: Tabular, order: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32], Int64s]:
    """Each edge from both its ends, in the order of the variables; ``half_edge >= m`` marks the second end."""
    place = np.empty(graph.n, np.int64)
    place[order] = np.arange(graph.n)
    source = np.concatenate([graph.edges[:, 0], graph.edges[:, 1]])
    target = np.concatenate([graph.edges[:, 1], graph.edges[:, 0]])
    half_edge = np.argsort(place[source], kind="stable")
    start = _starts(np.bincount(place[source], minlength=graph.n))
    return start.astype(np.int32), target[half_edge].astype(np.int32), half_edge


def _oriented_tables(
    graph: Tabular, half_edge: Int64s, translate: Callable[[Floats], Floats]
) -> tuple[NDArray[np.int32], Floats]:
    """A table for each half edge, rows its own labels: in walking order, unless edges share tables."""
    m = len(graph.edges)
    both = translate(graph.tables)
    turned = half_edge >= m
    shared = graph.table_of[half_edge % m] if m else half_edge
    if len(graph.tables) < m:
        both = np.concatenate([both, both.transpose(0, 2, 1)])
        return (shared + turned * len(graph.tables)).astype(np.int32), np.ascontiguousarray(both)
    tables = both[shared]
    tables[turned] = tables[turned].transpose(0, 2, 1)
    return np.arange(len(half_edge), dtype=np.int32), np.ascontiguousarray(tables)


def _incidence(
    graph: Tabular, order: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """The factors of three and more variables of each variable, and its place in them."""
    of_variable: list[list[tuple[int, int]]] = [[] for _ in range(graph.n)] if graph.higher else []
    for f, (variables, _) in enumerate(graph.higher):
        for slot, i in enumerate(variables):
            of_variable[i].append((f, slot))
    rows = [of_variable[i] for i in order] if graph.higher else []
    flat = np.array([entry for row in rows for entry in row], np.int32).reshape(-1, 2)
    sizes = [len(row) for row in rows] if graph.higher else np.zeros(graph.n, np.int64)
    return _starts(sizes).astype(np.int32), flat[:, 0].copy(), flat[:, 1].copy()


def _interaction(table: Floats) -> float:
    """Half the spread of what a table adds beyond functions of single variables (|J| of a spin coupling)."""
    centred = np.where(np.isinf(table), np.nan_to_num(table, posinf=0.0).max() + 20.0, table)
    for axis in range(centred.ndim):
        centred = centred - centred.mean(axis=axis, keepdims=True)
    return float(centred.max() - centred.min()) / 2


def coupling_strength(graph: Tabular) -> Floats:
    """(n,) sum of the interaction sizes of each variable's factors."""
    strength = np.zeros(graph.n)
    per_table = np.array([_interaction(table) for table in graph.tables])
    per_edge = per_table[graph.table_of] if len(graph.edges) else np.zeros(0)
    np.add.at(strength, graph.edges[:, 0], per_edge)
    np.add.at(strength, graph.edges[:, 1], per_edge)
    for variables, table in graph.higher:
        strength[list(variables)] += _interaction(table)
    return strength
