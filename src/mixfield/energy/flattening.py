"""A factor graph as the flat arrays of `kernels.sweeps` and `kernels.binary`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mixfield import _arrays, kernels
from mixfield.energy.factor_tables import Factor, Floats, Int64s

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from mixfield.energy.factor_graph import FactorGraph
    from mixfield.kernels.binary import BinaryGraph
    from mixfield.kernels.sweeps import FlatGraph

Int32s = NDArray[np.int32]


class EqualFactors(NamedTuple):
    """Factors whose tables have the same shape: (F, a) variables and (F, *shape) costs."""

    scopes: Int64s
    tables: Floats


def by_shape(higher: Sequence[Factor]) -> list[EqualFactors]:
    """Factors by the shape of their tables."""
    members: defaultdict[tuple[int, ...], list[Factor]] = defaultdict(list)
    for factor in higher:
        members[factor[1].shape].append(factor)
    return [
        EqualFactors(np.array([scope for scope, _ in some], np.int64), np.stack([table for _, table in some]))
        for some in members.values()
    ]


def costs_by_factor(factors: EqualFactors, x: Int64s) -> Floats:
    """(F,) cost of labels (n,); the last label of a variable stands for those that it does not have."""
    labels = np.minimum(x[factors.scopes], np.array(factors.tables.shape[1:]) - 1)
    return np.asarray(factors.tables[(np.arange(len(labels)), *labels.T)])


def adjacency(n: int, edges: Int64s, scopes: Sequence[tuple[int, ...]]) -> csr_array:
    """(n, n) symmetric sparse matrix of the pairs of variables that share an edge or a larger factor, of ``scopes``."""
    from scipy.sparse import csr_array

    cliques = [pair for scope in scopes for pair in combinations(scope, 2)]
    pairs = np.concatenate([edges, np.array(cliques, np.int64).reshape(-1, 2)])
    source, target = np.concatenate([pairs, pairs[:, ::-1]]).T
    return csr_array((np.ones(len(source), np.int8), (source, target)), shape=(n, n))


def color(neighbours: csr_array) -> Int32s:
    """(n,) a colour for each variable, neighbours have different ones; ``neighbours`` (n, n)."""
    colors = np.zeros(neighbours.shape[0], np.int32)
    kernels.coloring.color(neighbours.indptr.astype(np.int64), neighbours.indices.astype(np.int32), colors)
    return colors


def flatten(graph: FactorGraph, transform: Callable[[Floats], Floats]) -> FlatGraph:
    """The arrays of a graph, each table passed through ``transform`` first."""
    order = np.argsort(graph.colors, kind="stable").astype(np.int32)
    start, neighbour, half_edge = _half_edges(graph, order)
    table_of, tables = _oriented_tables(graph, half_edge, transform)
    factor_start, factor, slot = _incidence(graph, order)
    scopes = [variables for variables, _ in graph.higher]
    values = [transform(table).ravel() for _, table in graph.higher]
    rise = _rises(tables)
    return kernels.sweeps.FlatGraph(
        color_start=graph.color_start,
        order=order,
        start=start,
        neighbour=neighbour,
        table_of=table_of,
        tables=tables,
        factor_start=factor_start,
        factor=factor,
        slot=slot,
        scope_start=_arrays.starts([len(scope) for scope in scopes]).astype(np.int32),
        scope=np.array([i for scope in scopes for i in scope], np.int32),
        dims=np.array([size for _, table in graph.higher for size in table.shape], np.int32),
        value_start=_arrays.starts([len(v) for v in values]),
        values=np.concatenate(values) if values else np.zeros(0),
        is_potts=rise is not None and not graph.higher,
        rise=np.zeros(0) if rise is None else rise,
    )


def _rises(tables: Floats) -> Floats | None:
    """(t,) what equal labels cost more than different ones; None without tables, or if one is not of Potts form."""
    if len(tables) == 0 or tables.shape[1] < 2:
        return None
    equal = np.eye(tables.shape[1], dtype=bool)
    same, different = tables[:, 0, 0], tables[:, 0, 1]
    is_potts = (tables == np.where(equal, same[:, None, None], different[:, None, None])).all()
    return same - different if is_potts else None


@dataclass(frozen=True)
class BinaryForm:
    """A binary graph in logit form.

        E(x) = sum_i (u_i(1) - u_i(0) + slope_i) x_i + sum_ij w_ij x_i x_j + sum_f f(x) + sum_i u_i(0) + constant

    The unary costs u are not part of it, since clamps change them.

    Attributes
    ----------
    graph : the weights w and the derivatives of the polynomials f, for `kernels.binary`.
    order : (n,) arrays number the variables colour by colour: place s is variable ``order[s]``.
    slope : (n,) what the tables of the edges add to label 1, in this order.
    constant : what the tables of edges and larger factors cost where all labels are 0.
    """

    graph: BinaryGraph
    order: Int32s
    slope: Floats
    constant: float


def binary_form(graph: FactorGraph, flat: FlatGraph) -> BinaryForm:
    """The logit form of a flat binary graph."""
    t = flat.tables
    # a table [[a, b], [c, d]] costs a + (c - a) x_i + (b - a) x_j + (a - b - c + d) x_i x_j
    weight = (t[:, 0, 0] - t[:, 0, 1] - t[:, 1, 0] + t[:, 1, 1])[flat.table_of]
    rise = (t[:, 1, 0] - t[:, 0, 0])[flat.table_of]
    row = np.repeat(np.arange(graph.n), np.diff(flat.start))
    slope: Floats = np.bincount(row, rise, minlength=graph.n).astype(np.float64)
    constant = 0.5 * float(t[flat.table_of, 0, 0].sum())  # each edge is stored in both directions
    place = np.argsort(flat.order).astype(np.int32)
    derivatives = _derivatives(graph.higher, flat, place)
    binary = kernels.binary.BinaryGraph(graph.color_start, flat.start, place[flat.neighbour], weight, *derivatives)
    constant += sum(float(flat.values[start]) for start in flat.value_start[:-1])
    return BinaryForm(binary, flat.order, slope, constant)


def _derivatives(higher: Sequence[Factor], flat: FlatGraph, place: Int32s) -> tuple[Any, ...]:
    """The last six fields of `kernels.binary.BinaryGraph`.

    A table is turned into the coefficients of its polynomial by differences along each axis; those of the derivative by
    one variable are the second half along its axis.
    """
    arity = np.diff(flat.scope_start)[flat.factor]  # of the factor of each derivative
    other_start, term_start = _arrays.starts(arity - 1), _arrays.starts(1 << (arity - 1))
    other, terms = np.empty(other_start[-1], np.int32), np.empty(term_start[-1])
    for size in np.unique(arity).tolist():
        members = np.flatnonzero(np.diff(flat.scope_start) == size)
        row = np.zeros(len(higher), np.int64)
        row[members] = np.arange(len(members))
        scopes = place[flat.scope[flat.scope_start[members][:, None] + np.arange(size)]]
        coefficients = flat.values[flat.value_start[members][:, None] + np.arange(1 << size)].reshape(-1, *[2] * size)
        for axis in range(1, size + 1):
            low, high = np.moveaxis(coefficients, axis, 0)
            high -= low
        for slot in range(size):
            g = np.flatnonzero((arity == size) & (flat.slot == slot))
            own = row[flat.factor[g]]
            other[other_start[g][:, None] + np.arange(size - 1)] = np.delete(scopes, slot, axis=1)[own]
            half = coefficients.take(1, axis=1 + slot).reshape(len(members), -1)[own]
            terms[term_start[g][:, None] + np.arange(1 << (size - 1))] = half
    return flat.factor_start, flat.slot, other_start.astype(np.int32), other, term_start, terms


def _half_edges(graph: FactorGraph, order: Int32s) -> tuple[Int32s, Int32s, Int64s]:
    """Each edge from both its ends, in compressed rows by the variables in ``order``.

    Returns ``start`` (n + 1,), ``neighbour`` (2 m,) and ``half_edge`` (2 m,): edge e seen from its first variable is
    e, from its second m + e.
    """
    place = np.argsort(order)
    source = np.concatenate([graph.edges[:, 0], graph.edges[:, 1]])
    target = np.concatenate([graph.edges[:, 1], graph.edges[:, 0]])
    half_edge = np.argsort(place[source], kind="stable")
    start = _arrays.starts(np.bincount(place[source], minlength=graph.n))
    return start.astype(np.int32), target[half_edge].astype(np.int32), half_edge


def _oriented_tables(
    graph: FactorGraph, half_edge: Int64s, transform: Callable[[Floats], Floats]
) -> tuple[Int32s, Floats]:
    """Which table each half edge has, (2 m,), and tables whose rows are the labels of its own variable.

    Each half edge gets a table of its own, in the order in which a sweep reads them, unless edges share tables.
    """
    m = len(graph.edges)
    both = transform(graph.tables)
    reversed_ = half_edge >= m
    shared = graph.table_of[half_edge % m] if m else half_edge
    if len(graph.tables) < m:
        both = np.concatenate([both, both.transpose(0, 2, 1)])
        return (shared + reversed_ * len(graph.tables)).astype(np.int32), np.ascontiguousarray(both)
    tables = both[shared]
    tables[reversed_] = tables[reversed_].transpose(0, 2, 1)
    return np.arange(len(half_edge), dtype=np.int32), np.ascontiguousarray(tables)


def _incidence(graph: FactorGraph, order: Int32s) -> tuple[Int32s, Int32s, Int32s]:
    """The larger factors of each variable, and its position in them; compressed rows by the variables in ``order``."""
    of_variable: list[list[tuple[int, int]]] = [[] for _ in range(graph.n)] if graph.higher else []
    for f, (variables, _) in enumerate(graph.higher):
        for slot, i in enumerate(variables):
            of_variable[i].append((f, slot))
    rows = [of_variable[i] for i in order] if graph.higher else []
    flat = np.array([entry for row in rows for entry in row], np.int32).reshape(-1, 2)
    sizes = [len(row) for row in rows] if graph.higher else np.zeros(graph.n, np.int64)
    return _arrays.starts(sizes).astype(np.int32), flat[:, 0].copy(), flat[:, 1].copy()
