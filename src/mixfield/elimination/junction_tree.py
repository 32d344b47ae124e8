"""Exact log Z and marginals of a discrete factor model: the junction tree of an elimination order, in log space.

Eliminating a variable v makes a clique of v and its neighbours at that time, the separator.  From the leaves to the
roots (collect), a clique sends a message to the clique of the separator's variable that is eliminated next: with t the
sum of the log-potentials and messages in it,

    m(s) = log sum_x exp t(x, s)        x a label of v, s a state of the separator.

From the roots to the leaves (distribute), P(x, s) = exp(t(x, s) - m(s)) P(s) gives the marginal of v, and P of the
separators whose messages the clique received.  Only separator tables are stored: a clique table, one variable larger,
is recomputed entry by entry where it is needed.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mixfield import kernels
from mixfield.elimination.orders import Order, best_order
from mixfield.elimination.reduction import Factor, FactorModel, Floats, Labels, aligned, reduced_model
from mixfield.errors import InfeasibleError, MixfieldError, TooLargeError

if TYPE_CHECKING:
    from mixfield.kernels.tables import Product

LARGEST_GROUP = 4096  # entries of a sum of tables that are added up before the tree is built
LARGEST_TILE = 64  # entries of the innermost axes whose positions are stored

_Placed = tuple[int, tuple[int, ...]]  # start of a table in the pool, variables of its axes


@dataclass(frozen=True)
class Exact:
    """The exact answer for a factor model.

    Attributes
    ----------
    log_z : natural logarithm of the partition function.
    marginals : (\\*shape, L) array of probabilities, zero for labels that a variable does not have.
    treewidth : size of the largest clique minus one, an upper bound of the treewidth of the reduced model.
    table_bytes : size of all factor and message tables.
    """

    log_z: float
    marginals: Floats = field(repr=False)
    treewidth: int
    table_bytes: int


def exact(energy: FactorModel, *, memory: float = 4e9) -> Exact:
    """Exact log Z and marginals by junction tree.

    Parameters
    ----------
    energy : model with ``shape``, ``label_counts``, ``n_labels`` and ``factors()``, see `FactorModel`.
    memory : largest number of bytes that the tables may take: all factors, all messages (separator tables) and the
        largest set of messages that meet in one clique.

    Returns
    -------
    Exact
        Log Z, marginals, the width of the tree and the size of its tables.

    Raises
    ------
    TooLargeError
        The best elimination order found needs more than ``memory`` bytes.
    InfeasibleError
        Every state has infinite cost.

    Notes
    -----
    Labels that infinite costs rule out, factor by factor, are removed first, and with them variables left with one
    label.  The order is the best of greedy min-fill, greedy min-weight and the order given, with seeded tie-breaks; the
    larger the tables, the more of these are tried.

    Examples
    --------
    >>> import numpy as np
    >>> import mixfield as mf
    >>> coin, copy = -np.log([0.9, 0.1]), 5.0 * (1 - np.eye(2))
    >>> mf.exact(mf.FactorGraph.from_factors([2, 2], [((0,), coin), ((0, 1), copy)])).marginals.round(3)
    array([[0.9  , 0.1  ],
           [0.895, 0.105]])
    """
    reduced = reduced_model(energy)
    sizes = reduced.sizes
    order = best_order(sizes, [variables for variables, _ in reduced.tables], memory)
    tables = _grouped(reduced.tables, order, sizes)
    table_bytes = order.message_bytes + 8 * sum(table.size for _, table in tables)
    if table_bytes > memory:
        raise TooLargeError(
            f"exact inference needs a clique of {order.treewidth + 1} variables (treewidth {order.treewidth}) and "
            f"{_readable(table_bytes)} of tables, more than memory={memory:.3g} bytes; raise memory, fix some "
            "variables, or approximate with infer"
        )
    tree = _junction_tree(sizes, tables, order)
    log_z = reduced.constant + _collect(tree)
    if log_z == -math.inf:
        raise InfeasibleError("every state has infinite cost: the hard constraints of the model contradict each other")
    marginals = _distribute(tree, reduced.allowed, energy.n_labels)
    return Exact(log_z, marginals.reshape(*energy.shape, energy.n_labels), order.treewidth, table_bytes)


def _readable(n_bytes: int) -> str:
    return f"{n_bytes:,} bytes" if n_bytes < 10**15 else f"about 10^{math.log10(n_bytes):.0f} bytes"


# ---------------------------------------------------------------- the tree


@dataclass(frozen=True)
class _Clique:
    """A variable with its separator.

    Attributes
    ----------
    variable : the variable that is eliminated.
    is_root : whether the separator is empty.
    product : the tables of the clique, the messages it receives before its factors.
    message_sizes : entries of each message that it receives.
    """

    variable: int
    is_root: bool
    product: Product
    message_sizes: NDArray[np.int64]


@dataclass(frozen=True)
class _Tree:
    """Cliques in the order of elimination, and the pool of all factor and message tables."""

    cliques: list[_Clique]
    pool: Floats


def _grouped(tables: Iterable[Factor], order: Order, sizes: Sequence[int]) -> list[Factor]:
    """Add up tables of one clique while the sum is small beside the clique: kernels then read fewer tables."""
    rank = {v: position for position, v in enumerate(order.separators)}
    tables_of: defaultdict[int, list[Factor]] = defaultdict(list)
    for variables, table in tables:
        tables_of[min(variables, key=rank.__getitem__)].append((variables, table))
    groups: list[Factor] = []
    for v, members in tables_of.items():
        limit = min(LARGEST_GROUP, math.prod(sizes[u] for u in order.separators[v]) // 8)
        group = members[0]
        for member in members[1:]:
            union = tuple(dict.fromkeys(group[0] + member[0]))
            if math.prod(sizes[u] for u in union) <= limit:
                group = union, aligned(*group, union) + aligned(*member, union)
            else:
                groups.append(group)
                group = member
        groups.append(group)
    return groups


def _junction_tree(sizes: Sequence[int], tables: Sequence[Factor], order: Order) -> _Tree:
    """Lay out all tables in one pool; a table belongs to the clique of its first eliminated variable, its last axis."""
    rank = {v: position for position, v in enumerate(order.separators)}
    pool = np.empty(order.message_entries + sum(table.size for _, table in tables))
    messages: defaultdict[int, list[_Placed]] = defaultdict(list)
    factors: defaultdict[int, list[_Placed]] = defaultdict(list)
    used = 0
    for variables, table in tables:
        axes = tuple(sorted(variables, key=rank.__getitem__, reverse=True))
        pool[used : used + table.size].reshape([sizes[v] for v in axes])[...] = aligned(variables, table, axes)
        factors[axes[-1]].append((used, axes))
        used += table.size
    cliques = []
    for v, separator in order.separators.items():
        cliques.append(_clique(v, separator, messages[v], factors[v], used, sizes))
        if separator:
            messages[separator[-1]].append((used, separator))
        used += math.prod(sizes[u] for u in separator)
    return _Tree(cliques, pool)


def _clique(
    v: int,
    separator: tuple[int, ...],
    messages: list[_Placed],
    factors: list[_Placed],
    start: int,
    sizes: Sequence[int],
) -> _Clique:
    """The clique of v whose message begins at ``start``: strides, along the axes of the clique, of all its tables."""
    scope = (*separator, v)
    row = {u: axis for axis, u in enumerate(scope)}
    tables = messages + factors
    strides = np.zeros((len(scope), len(tables)), np.int64)
    for column, (_, axes) in enumerate(tables):
        stride = 1
        for u in reversed(axes):
            strides[row[u], column] = stride
            stride *= sizes[u]
    dims = np.array([sizes[u] for u in scope], np.int64)
    starts = np.array([place for place, _ in tables], np.int64)
    n_outer = _n_outer_axes(dims)
    offsets = np.empty((len(tables), math.prod(dims[n_outer:])), np.int64)
    kernels.tables.tile_offsets(dims, strides, offsets)
    product = kernels.tables.Product(start, dims, starts, strides, n_outer, offsets)
    message_sizes = np.array([math.prod(sizes[u] for u in axes) for _, axes in messages], np.int64)
    return _Clique(v, not separator, product, message_sizes)


def _n_outer_axes(dims: NDArray[np.int64]) -> int:
    """How many leading axes stay outside a tile of at most ``LARGEST_TILE`` entries, or of the last axis alone."""
    outer, size = len(dims) - 1, int(dims[-1])
    while outer and size * int(dims[outer - 1]) <= LARGEST_TILE:
        outer -= 1
        size *= int(dims[outer])
    return outer


# ---------------------------------------------------------------- the two passes


def _collect(tree: _Tree) -> float:
    """Leaves to roots: fill in the messages; returns log Z, the sum of the messages of the roots."""
    for clique in tree.cliques:
        kernels.tables.eliminate(tree.pool, clique.product)
    return math.fsum(tree.pool[clique.product.start] for clique in tree.cliques if clique.is_root)


def _distribute(tree: _Tree, allowed: Sequence[Labels], n_labels: int) -> Floats:
    """Roots to leaves: marginals (n, L).

    In the pool, a message m(s) is overwritten by log P(s) - m(s) before its clique is visited.
    """
    marginals = np.zeros((len(allowed), n_labels))
    shares = np.empty(max((int(clique.message_sizes.sum()) for clique in tree.cliques), default=0))
    for clique in reversed(tree.cliques):
        if clique.is_root:
            tree.pool[clique.product.start] *= -1.0  # log P of the empty separator is 0
        marginal = marginals[clique.variable]
        kernels.tables.distribute(tree.pool, clique.product, clique.message_sizes, shares, marginal)
    return _over_all_labels(marginals, allowed)


def _over_all_labels(marginals: Floats, allowed: Sequence[Labels]) -> Floats:
    """Move each row from the allowed labels, counted from 0, to all labels, and normalise it."""
    for row, labels in zip(marginals, allowed, strict=True):
        total = row[: len(labels)].sum() if len(labels) > 1 else 1.0
        if not abs(total - 1.0) < 1e-3:
            raise MixfieldError("the costs are too large for exact marginals: their differences drown in rounding")
        probabilities = row[: len(labels)] / total if len(labels) > 1 else 1.0
        row[:] = 0.0
        row[labels] = probabilities
    return marginals
