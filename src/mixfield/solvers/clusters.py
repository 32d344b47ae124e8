"""Mean fields whose factors are distributions of clusters of variables (Xing, Jordan and Russell 2003).

    Q(x) = prod_j Q_j(x_j),    Q_j(x_j) ~ exp(-E[E | x_j]),    the mean over the other clusters

Each cluster is a graph of small width, so that Q_j is exact, with all dependencies inside it.  Every update raises the
bound.  Eliminated one after the other, the variables of a cluster have the distributions P(x_v | x_s(v)) of
`mixfield.elimination.conditionals`.

Forbidden states have a finite price at first, which rises; then states that have next to no probability are excluded,
until no forbidden state has any.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mixfield import _arrays, kernels
from mixfield.elimination.bounded_orders import bounded_clusters
from mixfield.elimination.conditionals import Conditionals
from mixfield.energy.factor_graph import FactorGraph

if TYPE_CHECKING:
    from mixfield.kernels.clusters import FlatClusters

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

TOLERANCE, MAX_ROUNDS = 1e-4, 40  # nats by which a round of updates must raise the bound, and rounds
PENALTIES, PENALTY_ROUNDS = (4.0, 16.0, 64.0, 1e3), 5  # prices of forbidden states, in nats, and rounds at each
THRESHOLDS = (1e-9, 1e-6, 1e-4, 1e-2, 1e-1)  # of the largest probability, below which states are excluded


@dataclass(frozen=True, eq=False)
class ClusteredMode:
    """A mean field over clusters.

    Attributes
    ----------
    log_z : its bound; -inf if no such distribution without forbidden states was found.
    values : the tables P(x_v | x_s(v)), in the order of elimination.
    iterations : rounds of updates.
    converged : whether the last round hardly raised the bound.
    """

    log_z: float
    values: Floats
    iterations: int = 0
    converged: bool = False


class ClusterSolver:
    """Mean fields over clusters of the variables of a graph.

    Attributes
    ----------
    graph : whose variables have two labels or more.
    clusters : variables in the order of elimination, with their separators.
    """

    def __init__(self, graph: FactorGraph, dependence: Floats, limit: int) -> None:
        self.graph = graph
        self._sizes = graph.label_counts.tolist()
        self._factors = [(scope, table) for scope, table in graph.factors() if scope]
        scopes = [scope for scope, _ in self._factors]
        self.clusters = bounded_clusters(self._sizes, scopes, dependence.tolist(), limit=limit)

    def solve(self, q: Floats, allowed: Bools) -> ClusteredMode:
        """The mean field from marginals (n, L), inside the labels (n, L) that are allowed."""
        flat = self._flat
        marginals = self._part_marginals(q)
        conditionals = np.empty(flat.clique_start[-1])
        barred = self._barred(allowed)
        if np.isinf(self._values).any():
            for penalty in PENALTIES:
                priced = self._priced(penalty)
                kernels.clusters.ascend(flat, priced, barred, -np.inf, PENALTY_ROUNDS, marginals, conditionals)
            if not self._exclude(marginals, barred):
                return ClusteredMode(-math.inf, conditionals)
        bound, rounds = kernels.clusters.ascend(
            flat, self._values, barred, TOLERANCE, MAX_ROUNDS, marginals, conditionals
        )
        return ClusteredMode(float(bound) - self.graph.constant, conditionals, rounds, rounds < MAX_ROUNDS)

    def restored(self, mode: ClusteredMode, others: Conditionals) -> Conditionals:
        """All variables of a field, ``others`` being those that were eliminated before."""
        order = [v for cluster in self.clusters for v in cluster]
        scopes = [cluster[v] for cluster in self.clusters for v in cluster]
        lengths = [len(scope) for scope in scopes]
        return replace(
            others,
            kept=np.zeros(0, np.int64),
            variables=np.concatenate([others.variables, others.kept[order]]),
            scope_start=np.concatenate([others.scope_start, others.scope_start[-1] + np.cumsum(lengths)]),
            scope=np.concatenate([others.scope, others.kept[[u for scope in scopes for u in scope]]]).astype(np.int64),
            values=np.concatenate([others.values, mode.values]),
            choices=np.concatenate([others.choices, self._choices(mode.values)]),
        )

    @cached_property
    def _values(self) -> Floats:
        return np.concatenate([table.ravel() for _, table in self._factors])

    def _priced(self, penalty: float) -> Floats:
        """The costs with a price for forbidden states above the largest finite cost of their table."""
        start = self._flat.value_start
        finite = np.where(np.isinf(self._values), -np.inf, self._values)
        highest = np.repeat(np.maximum.reduceat(finite, start[:-1]), np.diff(start))
        return np.where(np.isinf(self._values), np.maximum(highest, 0.0) + penalty, self._values)

    def _part_marginals(self, q: Floats) -> Floats:
        """Probabilities of the states of the parts under the product of marginals (n, L)."""
        found = np.empty(self._flat.part_start[-1])
        for shape, states, variables in self._parts_by_shape:
            joint = np.ones((len(states), 1))
            for v, size in zip(variables.T, shape, strict=True):
                joint = (joint[:, :, None] * q[v, None, :size]).reshape(len(states), -1)
            found[states] = joint
        return found

    def _barred(self, allowed: Bools) -> Floats:
        """Infinite costs of labels that are not allowed, at the parts of one variable; 0 elsewhere."""
        barred = np.zeros(self._flat.part_start[-1])
        for shape, states, variables in self._parts_by_shape:
            if len(shape) == 1:
                barred[states] = np.where(allowed[variables[:, 0], : shape[0]], 0.0, np.inf)
        return barred

    def _exclude(self, marginals: Floats, barred: Floats) -> bool:
        """Exclude improbable states of parts until no forbidden state has any probability; False if that fails."""
        flat = self._flat
        lengths = np.diff(flat.part_start)
        largest = np.repeat(np.maximum.reduceat(marginals, flat.part_start[:-1]), lengths)
        shared = np.repeat(self._is_shared_and_hard, lengths)
        for threshold in THRESHOLDS:
            excluded = shared & (marginals < threshold * largest)
            kept = np.where(excluded, 0.0, marginals)
            if kernels.clusters.expected_cost(flat, self._values, kept) < np.inf:
                marginals[:] = kept / np.repeat(np.add.reduceat(kept, flat.part_start[:-1]), lengths)
                barred[excluded] = np.inf
                return True
        return False

    def _choices(self, values: Floats) -> Ints:
        """The label of each variable in the most probable state of its cluster, given the separator."""
        flat = self._flat
        with np.errstate(divide="ignore"):
            largest = np.log(values)
        choices = []
        for e, n_labels in enumerate(flat.n_labels.tolist()):
            rows = largest[flat.clique_start[e] : flat.clique_start[e + 1]].reshape(-1, n_labels)
            choices.append(rows.argmax(1))
            parent = flat.parent[e]
            if parent >= 0:
                up = flat.up[flat.up_start[e] : flat.up_start[e + 1]]
                largest[flat.clique_start[parent] : flat.clique_start[parent + 1]] += rows.max(1)[up]
        return np.concatenate(choices)

    @cached_property
    def _parts_of_factors(self) -> list[tuple[int, int, tuple[int, ...]]]:
        """Cluster, factor and variables of each part, by cluster."""
        cluster_of = {v: j for j, cluster in enumerate(self.clusters) for v in cluster}
        found = []
        for f, (scope, _) in enumerate(self._factors):
            members: defaultdict[int, list[int]] = defaultdict(list)
            for v in scope:
                members[cluster_of[v]].append(v)
            found += [(j, f, tuple(part)) for j, part in members.items()]
        return sorted(found)

    @cached_property
    def _parts(self) -> list[tuple[int, ...]]:
        return [part for _, _, part in self._parts_of_factors]

    @cached_property
    def _parts_by_shape(self) -> list[tuple[tuple[int, ...], Ints, Ints]]:
        """Label counts (k,) of some parts, where their states lie (P, S), and their variables (P, k)."""
        alike: defaultdict[tuple[int, ...], list[int]] = defaultdict(list)
        for p, part in enumerate(self._parts):
            alike[tuple(self._sizes[v] for v in part)].append(p)
        return [
            (
                shape,
                self._flat.part_start[own, None] + np.arange(math.prod(shape)),
                np.array([self._parts[p] for p in own]),
            )
            for shape, own in alike.items()
        ]

    @cached_property
    def _is_shared_and_hard(self) -> Bools:
        """(P,) whether the factor of a part forbids states and has parts in several clusters."""
        hard = [np.isinf(table).any() and len(scope) > 1 for scope, table in self._factors]
        return np.array([hard[f] and len(part) < len(self._factors[f][0]) for _, f, part in self._parts_of_factors])

    @cached_property
    def _flat(self) -> FlatClusters:
        sizes, separators = self._sizes, {v: s for cluster in self.clusters for v, s in cluster.items()}
        place = {v: e for e, v in enumerate(separators)}
        cliques = [(*scope, v) for v, scope in separators.items()]
        parents = [min((place[u] for u in scope), default=-1) for scope in separators.values()]
        up = [
            _states(cliques[parent], scope, sizes) if parent >= 0 else np.zeros(0, np.int64)
            for parent, scope in zip(parents, separators.values(), strict=True)
        ]
        owners, factors, parts = zip(*self._parts_of_factors, strict=True)
        hosts = [min(place[v] for v in part) for part in parts]
        by_factor = np.argsort(factors, kind="stable")
        return kernels.clusters.FlatClusters(
            cluster_clique=_arrays.starts([len(cluster) for cluster in self.clusters]),
            cluster_part=_arrays.starts(np.bincount(owners, minlength=len(self.clusters)).tolist()),
            clique_start=_arrays.starts([math.prod(sizes[v] for v in clique) for clique in cliques]),
            n_labels=np.array([sizes[v] for v in separators], np.int64),
            parent=np.array(parents, np.int64),
            **_joined("up", up),
            part_start=_arrays.starts([math.prod(sizes[v] for v in part) for part in parts]),
            part_clique=np.array(hosts, np.int64),
            **_joined("place", [_states(cliques[e], part, sizes) for e, part in zip(hosts, parts, strict=True)]),
            factor=np.array(factors, np.int64),
            **_joined(
                "state", [_states(self._factors[f][0], part, sizes) for f, part in zip(factors, parts, strict=True)]
            ),
            value_start=_arrays.starts([table.size for _, table in self._factors]),
            factor_part_start=_arrays.starts(np.bincount(factors, minlength=len(self._factors)).tolist()),
            factor_part=by_factor.astype(np.int64),
        )


def _joined(name: str, arrays: list[Ints]) -> dict[str, Ints]:
    """Arrays one after the other, and where each begins."""
    return {f"{name}_start": _arrays.starts([len(array) for array in arrays]), name: np.concatenate(arrays)}


def _states(scope: tuple[int, ...], part: tuple[int, ...], sizes: list[int]) -> Ints:
    """For each entry of a table over ``scope`` the state of ``part``, both in C order."""
    return _projection(tuple(sizes[v] for v in scope), tuple(scope.index(v) for v in part))


@lru_cache(maxsize=4096)
def _projection(shape: tuple[int, ...], axes: tuple[int, ...]) -> Ints:
    """For each entry of a table of a shape, in C order, the number of its state along some axes."""
    index = np.indices(shape, np.int64).reshape(len(shape), -1)
    return np.asarray(np.ravel_multi_index([index[a] for a in axes], [shape[a] for a in axes]), np.int64)
