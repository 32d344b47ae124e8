"""Exact log Z and marginals of a discrete factor model: variable elimination there and back, in log space.

Eliminating variables one by one builds a tree of cliques.  On the way up each clique sends the log-sum-exp over its own
variable; on the way down it splits the probability of its separator among the messages it received.  Only separator
tables are stored: a clique table, one variable larger, is recomputed entry by entry whenever it is needed.
"""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mixfield import kernels
from mixfield.elimination.orders import Order, best_order
from mixfield.errors import InfeasibleError, MixfieldError, TooLargeError

if TYPE_CHECKING:
    from mixfield.kernels.tables import Product

FloatArray = NDArray[np.float64]
Factor = tuple[tuple[int, ...], FloatArray]
_Place = tuple[int, tuple[int, ...]]  # start of a table in the pool, variables of its axes


class FactorModel(Protocol):
    """What :func:`exact` asks of an energy: its variables and the tables that sum to it."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array of variables; they are numbered in C order."""

    @property
    def label_counts(self) -> NDArray[np.integer[Any]]:
        """(n,) number of labels of each variable."""

    @property
    def n_labels(self) -> int:
        """Largest number of labels."""

    def factors(self) -> Sequence[tuple[tuple[int, ...], NDArray[np.floating[Any]]]]:
        """Cost tables with the variables of their axes; ``+inf`` forbids a state, no variables make a constant."""


@dataclass(frozen=True)
class Exact:
    """The exact answer for a factor model.

    Attributes
    ----------
    log_z : natural logarithm of the partition function.
    marginals : (\\*shape, L) array of probabilities, zero for labels that a variable does not have.
    treewidth : size of the largest clique minus one, an upper bound of the treewidth of the reduced model.
    table_bytes : peak size of the tables the computation held.
    """

    log_z: float
    marginals: FloatArray
    treewidth: int
    table_bytes: int


def exact(energy: FactorModel, *, memory: float = 4e9) -> Exact:
    """Exact log Z and marginals by junction tree.

    Parameters
    ----------
    energy : model with ``shape``, ``label_counts``, ``n_labels`` and ``factors()``, see :class:`FactorModel`.
    memory : largest number of bytes that the tables may take: all factors, all messages (separator tables) and the
        largest set of messages that meet in one clique.

    Returns
    -------
    Exact
        Log Z, marginals, the width of the tree and the bytes its tables took.

    Raises
    ------
    TooLargeError
        The best elimination order found needs more than ``memory`` bytes.
    InfeasibleError
        Every state has infinite cost.

    Notes
    -----
    Labels that hard zeros rule out, factor by factor, are removed first, and with them variables left with one label.
    The order is the best of greedy min-fill, greedy min-weight and the order given, with seeded tie-breaks; the longer
    the tables will take, the more of these are tried.

    Examples
    --------
    >>> import numpy as np
    >>> import mixfield as mf
    >>> coin, copy = -np.log([0.9, 0.1]), 5.0 * (1 - np.eye(2))
    >>> mf.exact(mf.FactorGraph.from_factors([2, 2], [((0,), coin), ((0, 1), copy)])).marginals.round(3)
    array([[0.9  , 0.1  ],
           [0.895, 0.105]])
    """
    counts, factors = _tables_of(energy)
    allowed = _allowed_labels(counts, factors)
    constant, tables = _reduced(factors, allowed)
    sizes = [len(labels) for labels in allowed]
    tables = _absorbed(tables)
    order = best_order(sizes, [variables for variables, _ in tables], memory)
    tables = _grouped(tables, order, sizes)
    table_bytes = order.message_bytes + 8 * sum(table.size for _, table in tables)
    if table_bytes > memory:
        raise TooLargeError(
            f"exact inference needs a clique of {order.treewidth + 1} variables (treewidth {order.treewidth}) and "
            f"{_readable(table_bytes)} of tables, more than memory={memory:.3g} bytes; raise memory, fix some "
            "variables, or approximate with infer"
        )
    tree = _junction_tree(sizes, tables, order)
    log_z = constant + _collect(tree)
    if log_z == -math.inf:
        raise InfeasibleError("every state has infinite cost: the hard constraints of the model contradict each other")
    marginals = _distribute(tree, allowed, energy.n_labels)
    return Exact(log_z, marginals.reshape(*energy.shape, energy.n_labels), order.treewidth, table_bytes)


def _readable(n_bytes: int) -> str:
    return f"{n_bytes:,} bytes" if n_bytes < 10**15 else f"about 10^{math.log10(n_bytes):.0f} bytes"


# ---- the model: checked, reduced to the labels that can occur, small tables added into larger ones


def _tables_of(energy: FactorModel) -> tuple[list[int], list[Factor]]:
    """Label counts and float64 cost tables, or a sentence about what is missing."""
    for name in ("shape", "label_counts", "n_labels", "factors"):
        if not hasattr(energy, name):
            raise MixfieldError(
                f"exact needs {name!r}, {type(energy).__name__} does not provide it: a black box cannot be solved "
                "exactly, approximate it with infer"
            )
    counts = [int(count) for count in energy.label_counts]
    factors = [(tuple(map(int, variables)), np.asarray(table, float)) for variables, table in energy.factors()]
    for variables, table in factors:
        expected = tuple(counts[v] for v in variables)
        if table.shape != expected or len(set(variables)) != len(variables):
            raise MixfieldError(
                f"the factor of variables {variables} must have one axis for each of them, all different, and shape "
                f"{expected}, got {table.shape}"
            )
        if table.size and not table.min() > -math.inf:
            raise MixfieldError(f"the costs of the factor of variables {variables} must not be NaN or -inf")
    return counts, factors


def _allowed_labels(counts: Sequence[int], factors: Iterable[Factor]) -> list[NDArray[np.intp]]:
    """Labels of each variable that every factor can complete at finite cost, given the labels of its neighbours."""
    allowed = [np.arange(count) for count in counts]
    hard = [factor for factor in factors if factor[0] and factor[1].max(initial=0.0) == math.inf]
    touching = defaultdict(set)
    for f, (variables, _) in enumerate(hard):
        for v in variables:
            touching[v].add(f)
    waiting = deque(range(len(hard)))
    queued = set(waiting)
    while waiting:
        f = waiting.popleft()
        queued.remove(f)
        variables, table = hard[f]
        possible = np.isfinite(table[np.ix_(*(allowed[v] for v in variables))])
        for axis, v in enumerate(variables):
            supported = possible.any(axis=tuple(a for a in range(possible.ndim) if a != axis))
            if not supported.all():
                allowed[v] = allowed[v][supported]
                possible = possible.compress(supported, axis)
                again = touching[v] - queued - {f}
                waiting.extend(sorted(again))
                queued |= again
    empty = [v for v, labels in enumerate(allowed) if not len(labels)]
    if empty:
        raise InfeasibleError(f"every state has infinite cost: no label of variable {empty[0]} can occur")
    return allowed


def _reduced(factors: Iterable[Factor], allowed: Sequence[NDArray[np.intp]]) -> tuple[float, list[Factor]]:
    """Log-potentials over the allowed labels of the variables that still have a choice, and the constant rest."""
    constant = 0.0
    reduced = []
    for variables, table in factors:
        labels = [allowed[v] for v in variables]
        if any(len(some) < count for some, count in zip(labels, table.shape, strict=True)):
            table = table[np.ix_(*labels)]
        free = tuple(v for v, some in zip(variables, labels, strict=True) if len(some) > 1)
        if free:
            reduced.append((free, -table.reshape([len(allowed[v]) for v in free])))
        else:
            constant -= table.item()
    return constant, reduced


def _absorbed(tables: Iterable[Factor]) -> list[Factor]:
    """The same sum with each table added into a larger one that has all its variables, where there is one."""
    kept: list[Factor] = []
    hosts_of: defaultdict[int, list[int]] = defaultdict(list)
    for variables, table in sorted(tables, key=lambda factor: -factor[1].size):
        rarest = min(variables, key=lambda v: len(hosts_of[v]))
        host = next((h for h in hosts_of[rarest] if set(variables) <= set(kept[h][0])), None)
        if host is None:
            for v in variables:
                hosts_of[v].append(len(kept))
            kept.append((variables, table))
        else:
            host_variables, host_table = kept[host]
            host_table += _aligned(variables, table, host_variables)
    return kept


def _aligned(variables: Sequence[int], table: FloatArray, target: Sequence[int]) -> FloatArray:
    """View of a table that broadcasts against the axes ``target``."""
    axes = [variables.index(v) for v in target if v in variables]
    shape = [table.shape[variables.index(v)] if v in variables else 1 for v in target]
    return table.transpose(axes).reshape(shape)


# ---- the tree of cliques and its two passes


def _grouped(tables: Iterable[Factor], order: Order, sizes: Sequence[int]) -> list[Factor]:
    """Add up tables that meet in one clique while the sum stays small beside the clique: fewer to walk over."""
    rank = {v: position for position, v in enumerate(order.neighbours)}
    meeting: defaultdict[int, list[Factor]] = defaultdict(list)
    for variables, table in tables:
        meeting[min(variables, key=rank.__getitem__)].append((variables, table))
    groups: list[Factor] = []
    for v, members in meeting.items():
        limit = min(4096, math.prod(sizes[u] for u in order.neighbours[v]) // 8)
        group = members[0]
        for member in members[1:]:
            union = tuple(dict.fromkeys(group[0] + member[0]))
            if math.prod(sizes[u] for u in union) <= limit:
                group = union, _aligned(*group, union) + _aligned(*member, union)
            else:
                groups.append(group)
                group = member
        groups.append(group)
    return groups


@dataclass(frozen=True)
class _Clique:
    """A variable with its separator, and the tables that meet there: the messages it receives, then factors."""

    variable: int
    is_root: bool
    product: Product
    message_sizes: NDArray[np.int64]


@dataclass(frozen=True)
class _Tree:
    """Cliques, those that send before those that receive, and the pool of all factor and message tables."""

    cliques: list[_Clique]
    pool: FloatArray


def _junction_tree(sizes: Sequence[int], tables: Sequence[Factor], order: Order) -> _Tree:
    """Lay out all tables in one pool; each goes to the clique of the variable it loses first, its last axis."""
    rank = {v: position for position, v in enumerate(order.neighbours)}
    pool = np.empty(order.message_entries + sum(table.size for _, table in tables))
    messages: defaultdict[int, list[_Place]] = defaultdict(list)
    factors: defaultdict[int, list[_Place]] = defaultdict(list)
    used = 0
    for variables, table in tables:
        axes = tuple(sorted(variables, key=rank.__getitem__, reverse=True))
        pool[used : used + table.size].reshape([sizes[v] for v in axes])[...] = _aligned(variables, table, axes)
        factors[axes[-1]].append((used, axes))
        used += table.size
    cliques = []
    for v, separator in order.neighbours.items():
        cliques.append(_clique(v, separator, messages[v], factors[v], used, sizes))
        if separator:
            messages[separator[-1]].append((used, separator))
        used += math.prod(sizes[u] for u in separator)
    return _Tree(cliques, pool)


def _clique(
    v: int, separator: tuple[int, ...], messages: list[_Place], factors: list[_Place], start: int, sizes: Sequence[int]
) -> _Clique:
    """Strides, in the axes of the clique, of every table that meets in it."""
    scope = (*separator, v)
    row = {u: axis for axis, u in enumerate(scope)}
    places = messages + factors
    strides = np.zeros((len(scope), len(places)), np.int64)
    for column, (_, axes) in enumerate(places):
        stride = 1
        for u in reversed(axes):
            strides[row[u], column] = stride
            stride *= sizes[u]
    dims = np.array([sizes[u] for u in scope], np.int64)
    starts = np.array([place for place, _ in places], np.int64)
    n_outer = _n_outer_axes(dims)
    offsets = np.empty((len(places), math.prod(dims[n_outer:])), np.int64)
    kernels.tables.tile_offsets(dims, strides, offsets)
    product = kernels.tables.Product(start, dims, starts, strides, n_outer, offsets)
    message_sizes = np.array([math.prod(sizes[u] for u in axes) for _, axes in messages], np.int64)
    return _Clique(v, not separator, product, message_sizes)


def _n_outer_axes(dims: NDArray[np.int64]) -> int:
    """How many leading axes stay outside a tile of at most 64 entries, or of the last axis alone."""
    outer, size = len(dims) - 1, int(dims[-1])
    while outer and size * int(dims[outer - 1]) <= 64:
        outer -= 1
        size *= int(dims[outer])
    return outer


def _collect(tree: _Tree) -> float:
    """Leaves to roots: fill in the messages; those of the roots are the log Z of their components."""
    for clique in tree.cliques:
        kernels.tables.eliminate(tree.pool, clique.product)
    return math.fsum(tree.pool[clique.product.start] for clique in tree.cliques if clique.is_root)


def _distribute(tree: _Tree, allowed: Sequence[NDArray[np.intp]], n_labels: int) -> FloatArray:
    """Roots to leaves: marginals, (n, L).

    With t the log of the product of the tables in a clique, m its message and s its separator, the variable x has
    P(x | s) = exp(t(x, s) - m(s)).  The place of m is overwritten by log P(s) - m(s) before the clique has its turn.
    """
    marginals = np.zeros((len(allowed), n_labels))
    shares = np.empty(max((int(clique.message_sizes.sum()) for clique in tree.cliques), default=0))
    for clique in reversed(tree.cliques):
        if clique.is_root:
            tree.pool[clique.product.start] *= -1.0
        marginal = marginals[clique.variable]
        kernels.tables.distribute(tree.pool, clique.product, clique.message_sizes, shares, marginal)
    return _over_all_labels(marginals, allowed)


def _over_all_labels(marginals: FloatArray, allowed: Sequence[NDArray[np.intp]]) -> FloatArray:
    """Move each row from the allowed labels, counted from 0, to all labels, and make it sum to one."""
    for row, labels in zip(marginals, allowed, strict=True):
        total = row[: len(labels)].sum() if len(labels) > 1 else 1.0
        if not abs(total - 1.0) < 1e-3:
            raise MixfieldError("the costs are too large for exact marginals: their differences drown in rounding")
        probabilities = row[: len(labels)] / total if len(labels) > 1 else 1.0
        row[:] = 0.0
        row[labels] = probabilities
    return marginals
