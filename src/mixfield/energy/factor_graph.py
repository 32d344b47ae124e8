"""Factor graphs: E(x) = sum_i u_i(x_i) + sum_ij t_ij(x_i, x_j) + sum of larger factors, all of them tables of costs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays, kernels
from mixfield.energy import flattening
from mixfield.energy.factor_tables import Factor, Floats, check_factor, interaction_sums, merge_edges, pad_factors
from mixfield.energy.qubo import Qubo, qubo_tables
from mixfield.errors import InfeasibleError, MixfieldError
from mixfield.kernels.constants import LARGEST_POLYNOMIAL

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from mixfield.kernels.sweeps import FlatGraph


@dataclass(frozen=True, eq=False)
class FactorGraph:
    """A discrete energy given by tables of costs.

    Build one with `from_pairwise`, `from_factors`, `potts_grid`, `ising`, `from_qubo` or `mixfield.read_uai`.  Costs
    add up, ``P(x) ~ exp(-E(x))``, and ``+inf`` forbids a state.

    Attributes
    ----------
    shape : shape of the field of variables; variables are numbered in C order.
    label_counts : (n,) number of labels of each variable.
    unary : (n, L) costs, ``+inf`` for labels that a variable does not have.
    edges : (m, 2) pairs of variables, each pair once.
    table_of : (m,) which of ``tables`` belongs to each edge.
    tables : (t, L, L) costs, rows are the labels of the first variable of the edge.
    higher : factors of three and more variables, and of two whose tables would be too large if they were padded to L.
    constant : a cost common to all states.
    sequential : whether sweeps visit the variables one by one as they are numbered, see `in_reading_order`.
    """

    shape: tuple[int, ...]
    label_counts: NDArray[np.int64]
    unary: Floats
    edges: NDArray[np.int64]
    table_of: NDArray[np.int64]
    tables: Floats
    higher: tuple[Factor, ...] = ()
    constant: float = 0.0
    sequential: bool = False

    batched = True

    def __post_init__(self) -> None:
        if self.n_labels == 0:
            raise MixfieldError("unary must have at least one label on its last axis, got 0")
        empty = np.flatnonzero(~np.isfinite(self.unary).any(1))
        if len(empty):
            raise InfeasibleError(f"variable {empty[0]} has no allowed label: all its unary costs are +inf")
        for array in (self.label_counts, self.unary, self.edges, self.table_of, self.tables):
            _arrays.frozen(array)

    def __repr__(self) -> str:
        higher = f", {len(self.higher)} larger factors" if self.higher else ""
        return f"FactorGraph({self.shape} variables with {self.n_labels} labels, {len(self.edges)} edges{higher})"

    # ------------------------------------------------------------------ construction

    @classmethod
    def from_pairwise(cls, unary: ArrayLike, edges: ArrayLike, tables: ArrayLike) -> FactorGraph:
        """A graph with costs on variables and on pairs of them.

        Parameters
        ----------
        unary : (*shape, L) array of costs.
        edges : (m, 2) pairs of variables, numbered in C order.
        tables : (m, L, L) costs of each edge, or (L, L) for one table shared by all.

        Examples
        --------
        >>> import numpy as np, mixfield as mf
        >>> graph = mf.FactorGraph.from_pairwise(np.zeros((2, 2)), [(0, 1)], [[[0.0, 1.0], [1.0, 0.0]]])
        >>> graph.of([0, 1])
        1.0
        """
        costs = _arrays.floats("unary", unary)
        if costs.ndim < 2:
            raise MixfieldError(f"unary must have shape (*shape, L) with at least two axes, got {costs.shape}")
        shape, n_labels = costs.shape[:-1], costs.shape[-1]
        n = int(np.prod(shape, dtype=np.int64))
        pairs = _arrays.integers("edges", edges, low=0, high=max(n, 1))
        pairs = pairs.reshape(0, 2) if pairs.size == 0 else pairs
        if pairs.ndim != 2 or pairs.shape[1] != 2:
            raise MixfieldError(f"edges must have shape (m, 2), got {pairs.shape}")
        pairwise = _arrays.floats("tables", tables).copy()
        if pairwise.shape == (n_labels, n_labels):
            pairwise, table_of = pairwise[None], np.zeros(len(pairs), np.int64)
        elif pairwise.size == 0 and len(pairs) == 0:
            pairwise, table_of = np.zeros((0, n_labels, n_labels)), np.zeros(0, np.int64)
        else:
            expected = (len(pairs), n_labels, n_labels)
            _arrays.check_shape("tables", pairwise, expected, "= (m, L, L) to match edges and unary")
            table_of = np.arange(len(pairs))
        pairs, table_of, pairwise = merge_edges(pairs, table_of, pairwise)
        counts = np.full(n, n_labels, np.int64)
        return cls(shape, counts, costs.reshape(n, n_labels).copy(), pairs, table_of, pairwise)

    @classmethod
    def from_factors(cls, n_labels: Sequence[int], factors: Sequence[tuple[Sequence[int], ArrayLike]]) -> FactorGraph:
        """A graph from tables over any sets of variables.

        Parameters
        ----------
        n_labels : number of labels of each variable; variables may differ.
        factors : pairs ``(variables, table)``; axis ``a`` of the table runs over the labels of ``variables[a]``.

        Examples
        --------
        >>> graph = FactorGraph.from_factors([2, 3], [((0,), [0.0, 1.0]), ((0, 1), np.ones((2, 3)))])
        >>> graph.shape, graph.n_labels
        ((2,), 3)
        """
        counts = _arrays.integers("n_labels", n_labels, low=1, high=2**31).copy()
        if counts.ndim != 1:
            raise MixfieldError(f"n_labels must list the label count of each variable, got shape {counts.shape}")
        checked = [check_factor(k, scope, values, counts) for k, (scope, values) in enumerate(factors)]
        return cls((len(counts),), counts, *pad_factors(counts, checked))

    @classmethod
    def potts_grid(cls, unary: ArrayLike, coupling: float) -> FactorGraph:
        """A grid whose neighbours pay ``coupling`` for different labels.

        Parameters
        ----------
        unary : (H, W, L) array of costs (or any number of grid axes before the labels).
        coupling : cost of a pair of neighbours with different labels; below zero they repel.
        """
        costs = _arrays.floats("unary", unary)
        strength = float(_arrays.floats("coupling", coupling).reshape(()))
        edges = grid_edges(costs.shape[:-1])
        return cls.from_pairwise(costs, edges, strength * (1.0 - np.eye(costs.shape[-1])))

    @classmethod
    def ising(cls, field: ArrayLike, edges: ArrayLike, coupling: ArrayLike) -> FactorGraph:
        """Spins, ``P(s) ~ exp(sum_ij J_ij s_i s_j + sum_i h_i s_i)`` with s = -1 (label 0) or +1 (label 1).

        Parameters
        ----------
        field : (*shape) array h.
        edges : (m, 2) pairs of variables, numbered in C order.
        coupling : (m,) array J, or one number for all edges.
        """
        h = _arrays.floats("field", field)
        pairs = _arrays.as_numpy("edges", edges)
        pairs = pairs.reshape(-1, 2) if pairs.size == 0 else pairs
        strength = _arrays.floats("coupling", coupling)
        if not (np.isfinite(h).all() and np.isfinite(strength).all()):
            raise MixfieldError("field and coupling must be finite: both signs of a spin pay for them")
        unary = np.stack([h, -h], axis=-1)
        agree = np.array([[-1.0, 1.0], [1.0, -1.0]])
        if strength.ndim == 0:
            return cls.from_pairwise(unary, pairs, float(strength) * agree)
        _arrays.check_shape("coupling", strength, (len(pairs),), "to match edges")
        return cls.from_pairwise(unary, pairs, strength[:, None, None] * agree)

    @classmethod
    def from_qubo(cls, Q: Qubo) -> FactorGraph:
        """Binary variables with E(x) = sum_ij Q_ij x_i x_j; Q is ``{(i, j): cost}`` or a matrix, see `qubo_tables`."""
        return cls.from_pairwise(*qubo_tables(Q))

    @classmethod
    def from_bqm(cls, bqm: Any) -> FactorGraph:
        """A binary quadratic model of dimod, see `mixfield.bridges.dimod.from_bqm`."""
        # loaded by name: bridges import energies, not the other way round
        return import_module("mixfield.bridges.dimod").from_bqm(bqm)

    @classmethod
    def from_networkx(cls, graph: Any, **options: Any) -> FactorGraph:
        """A graph of networkx with costs on nodes and edges, see `mixfield.bridges.networkx.from_networkx`."""
        return import_module("mixfield.bridges.networkx").from_networkx(graph, **options)

    def condition(self, evidence: Mapping[int, int]) -> FactorGraph:
        """The same variables with some of them observed.

        Parameters
        ----------
        evidence : label of each observed variable; its other labels become forbidden.
        """
        observed = {int(i): int(v) for i, v in evidence.items()}
        for i, label in observed.items():
            if not 0 <= i < self.n:
                raise MixfieldError(f"evidence names variable {i}, expected 0..{self.n - 1}")
            if not 0 <= label < self.label_counts[i]:
                raise MixfieldError(
                    f"evidence gives label {label} to variable {i}, expected 0..{self.label_counts[i] - 1}"
                )
        unary = self.unary.copy()
        for i, label in observed.items():
            unary[i] = np.where(np.arange(self.n_labels) == label, unary[i], np.inf)
            if np.isinf(unary[i, label]):
                raise InfeasibleError(f"evidence gives variable {i} the label {label}, which its unary cost forbids")
        return replace(self, unary=unary)

    # ------------------------------------------------------------------ the five questions of an energy

    @property
    def n(self) -> int:
        """Number of variables."""
        return len(self.unary)

    @property
    def n_labels(self) -> int:
        """Largest number of labels."""
        return self.unary.shape[1]

    @cached_property
    def allowed(self) -> NDArray[np.bool_]:
        """(n, L) labels that each variable may take."""
        return np.asarray(_arrays.frozen(np.isfinite(self.unary)))

    def local_field(self, q: ArrayLike) -> Floats:
        """Expected cost of each label of each variable, the others distributed as ``q``.

        Parameters
        ----------
        q : (*shape, L) marginals, or (K, *shape, L) for K modes at once; the result has the same shape.
        """
        batch, lead = self._batch(q)
        out = np.empty_like(batch)
        for k in range(len(batch)):
            kernels.sweeps.local_field(self.flat(0.0), self.unary, batch[k], out[k])
        if self.has_hard_factors:
            violation, zero = np.empty_like(batch), np.zeros_like(self.unary)
            for k in range(len(batch)):
                kernels.sweeps.local_field(self._hard, zero, batch[k], violation[k])
            out[violation > 0] = np.inf
        return out.reshape(*lead, *self.shape, self.n_labels)

    def expected(self, q: ArrayLike) -> Any:
        """Expected cost under the product distribution ``q`` (*shape, L); (K,) costs for (K, *shape, L)."""
        batch, lead = self._batch(q)
        costs = np.array([kernels.sweeps.expected(self.flat(0.0), self.unary, one) for one in batch])
        if self.has_hard_factors:
            costs[self.violation(batch) > 0] = np.inf
        costs += self.constant
        return costs.reshape(lead) if lead else float(costs[0])

    def of(self, x: ArrayLike) -> Any:
        """Cost of a labeling (*shape), or of each of many (..., *shape)."""
        labels = _arrays.integers("x", x, low=0, high=self.n_labels)
        lead = labels.shape[: labels.ndim - len(self.shape)]
        _arrays.check_shape("x", labels, (*lead, *self.shape), "ending in the shape of the energy")
        flat = labels.reshape(math.prod(lead), self.n)
        cost = np.full(len(flat), self.constant)
        cost += self.unary[np.arange(self.n), flat].sum(1)
        first, second = self.edges.T
        cost += self.tables[self.table_of, flat[:, first], flat[:, second]].sum(1)
        for factors in self.larger_factors:
            cost += [flattening.costs_by_factor(factors, one).sum() for one in flat]
        return cost.reshape(lead) if lead else float(cost[0])

    # ------------------------------------------------------------------ for solvers and exact inference

    def factors(self) -> list[Factor]:
        """All tables with their variables, without padding."""
        counts = self.label_counts
        found: list[Factor] = [((), np.array(self.constant))] if self.constant else []
        found += [((i,), self.unary[i, : counts[i]]) for i in range(self.n)]
        for (i, j), t in zip(self.edges.tolist(), self.table_of.tolist(), strict=True):
            found.append(((i, j), self.tables[t, : counts[i], : counts[j]]))
        return found + list(self.higher)

    @cached_property
    def larger_factors(self) -> list[flattening.EqualFactors]:
        """Those of ``higher``, by the shape of their tables."""
        return flattening.by_shape(self.higher)

    @cached_property
    def has_hard_factors(self) -> bool:
        """Whether a table over two or more variables forbids a state."""
        return bool(np.isinf(self.tables).any() or any(np.isinf(table).any() for _, table in self.higher))

    @cached_property
    def cost_scale(self) -> float:
        """Largest finite cost of a table, in absolute value."""
        arrays = [self.unary, self.tables, *(table for _, table in self.higher)]
        return max(float(np.abs(array[np.isfinite(array)]).max(initial=0.0)) for array in arrays)

    @cached_property
    def colors(self) -> NDArray[np.int32]:
        """(n,) a colour for each variable; two variables of one factor have different ones."""
        if self.sequential:
            return np.arange(self.n, dtype=np.int32)
        return flattening.color(self.adjacency)

    def in_reading_order(self) -> FactorGraph:
        """The same graph, swept from the first to the last variable instead of colour by colour.

        That is slower, but from a cold start it joins domains along a row which a checkerboard keeps apart: the fairer
        baseline.
        """
        return replace(self, sequential=True)

    @cached_property
    def color_start(self) -> NDArray[np.int32]:
        """(colours + 1,) where each colour begins if the variables are listed colour by colour."""
        return _arrays.starts(np.bincount(self.colors)).astype(np.int32)

    @cached_property
    def adjacency(self) -> csr_array:
        """(n, n) sparse matrix with an entry for each pair of variables that share a factor."""
        return flattening.adjacency(self.n, self.edges, [variables for variables, _ in self.higher])

    def flat(self, penalty: float) -> FlatGraph:
        """The arrays of `kernels.sweeps`, with ``penalty`` as the cost of every forbidden state of a factor."""
        if penalty not in self._flat_of_penalty:
            self._flat_of_penalty[penalty] = flattening.flatten(self, lambda t: np.where(np.isinf(t), penalty, t))
        return self._flat_of_penalty[penalty]

    @cached_property
    def _flat_of_penalty(self) -> dict[float, FlatGraph]:
        return {}

    @cached_property
    def _hard(self) -> FlatGraph:
        """The arrays of a graph whose tables count forbidden states."""
        return flattening.flatten(self, lambda t: np.isinf(t).astype(np.float64))

    @cached_property
    def is_binary_pairwise(self) -> bool:
        """Whether every variable has (at most) two labels and every factor at most two variables."""
        return self.n_labels == 2 and not self.higher

    @cached_property
    def has_binary_form(self) -> bool:
        """Whether every variable has (at most) two labels and no factor is too large to be kept as a polynomial."""
        return self.n_labels == 2 and all(len(scope) <= LARGEST_POLYNOMIAL for scope, _ in self.higher)

    def binary(self, penalty: float) -> flattening.BinaryForm:
        """The logit form of a binary graph, with ``penalty`` as the cost of every forbidden state of a factor."""
        if penalty not in self._binary_of_penalty:
            self._binary_of_penalty[penalty] = flattening.binary_form(self, self.flat(penalty))
        return self._binary_of_penalty[penalty]

    @cached_property
    def _binary_of_penalty(self) -> dict[float, flattening.BinaryForm]:
        return {}

    @cached_property
    def binary_unary(self) -> tuple[float, Floats]:
        """The sum of the costs of label 0, and (n,) the additional cost of label 1, in the order of `binary`.

        For an observed variable, the cost of its only label takes the place of both.
        """
        low, high = self.unary.T
        rise = np.where(np.isinf(high), 0.0, high) - np.where(np.isinf(low) | np.isinf(high), 0.0, low)
        return float(np.where(np.isinf(low), 0.0, low).sum()), rise[self.binary(0.0).order]

    def softened(self, penalty: float) -> FactorGraph:
        """The same graph with ``penalty`` as the cost of forbidden states of two and more variables."""
        if not self.has_hard_factors:
            return self
        higher = tuple((scope, np.where(np.isinf(table), penalty, table)) for scope, table in self.higher)
        return replace(self, tables=np.where(np.isinf(self.tables), penalty, self.tables), higher=higher)

    def violation(self, q: Floats) -> Floats:
        """(K,) expected number of factors in a forbidden state, for marginals (K, n, L)."""
        zero = np.zeros_like(self.unary)
        return np.array([kernels.sweeps.expected(self._hard, zero, one) for one in q])

    @cached_property
    def coupling_strength(self) -> Floats:
        """(n,) sum over the factors of each variable of the size of their interaction (|W| of Weller and Domke)."""
        return interaction_sums(self.n, self.edges, self.tables, self.table_of, self.higher)

    def _batch(self, q: ArrayLike) -> tuple[Floats, tuple[int, ...]]:
        """Marginals as (K, n, L), and the leading axes that they had: () or (K,)."""
        array = np.ascontiguousarray(q, dtype=np.float64)
        lead = array.shape[: array.ndim - len(self.shape) - 1]
        _arrays.check_shape("q", array, (*lead, *self.shape, self.n_labels), "= (*shape, L), modes before it if any")
        return array.reshape(math.prod(lead), self.n, self.n_labels), lead


def grid_edges(shape: Sequence[int]) -> NDArray[np.int64]:
    """(m, 2) pairs of neighbours on a grid with any number of axes, numbered in C order."""
    index = np.arange(int(np.prod(shape, dtype=np.int64))).reshape(shape)
    pairs = []
    for axis in reversed(range(index.ndim)):
        before = np.take(index, range(index.shape[axis] - 1), axis).ravel()
        after = np.take(index, range(1, index.shape[axis]), axis).ravel()
        pairs.append(np.stack([before, after], 1))
    return np.concatenate(pairs) if pairs else np.zeros((0, 2), np.int64)
