"""Eliminated variables put back: Q(x) = prod_{i kept} q_i(x_i) prod_{v eliminated} P(x_v | x_s(v)).

s(v), the separator, are the neighbours of v when it was eliminated: variables that are kept or were eliminated later.
The product is therefore read from the last eliminated variable to the first; variables of one depth, which do not
depend on each other, in one step.

The marginal of v needs the joint distribution of its separator.  If all of s(v) is kept, it is the product of the q_i.
Else let u be the first of s(v) to be eliminated: P(x_u | x_s(u)) P(x_s(u)) is already known, and those of s(v) that are
not in s(u) belong to other clusters (`mixfield.solvers.clusters`), so that they are independent of these.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mixfield import kernels

if TYPE_CHECKING:
    from mixfield.kernels.conditionals import FlatTables

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LARGEST_SEPARATOR = 64  # variables; NumPy has as many axes


@dataclass(frozen=True, eq=False)
class _Batch:
    """Eliminated variables of one depth whose tables have the same shape.

    Attributes
    ----------
    variables, scopes : (B,) variables and (B, a) separators.
    tables : (B, *sizes, L_v).
    """

    variables: Ints
    scopes: Ints
    tables: Floats

    def given(self, x: Ints) -> Floats:
        """(N, B, L_v) probabilities given the labels x (N, n)."""
        member = np.broadcast_to(np.arange(len(self.variables)), (len(x), len(self.variables)))  # a scope may be empty
        return np.asarray(self.tables[member, *np.moveaxis(x[:, self.scopes], -1, 0)])


@dataclass(frozen=True, eq=False)
class Conditionals:
    """The distributions of eliminated variables, as flat arrays.

    Attributes
    ----------
    labels : (n, L') label of the whole field for each label of a variable here, -1 where it has fewer.  A variable with
        one label is observed, or the hard constraints leave no other.
    kept : (m,) variables that are left.
    variables : (E,) eliminated variables, in the order of elimination.
    scope_start, scope : the separator of ``variables[e]`` is ``scope[scope_start[e]:scope_start[e + 1]]``.
    values : the tables P(x_v | x_s) one after the other, x_v fastest.
    choices : the tables of the best label of v given x_s, eliminated variables before v at their best.
    """

    labels: Ints
    kept: Ints
    variables: Ints
    scope_start: Ints
    scope: Ints
    values: Floats
    choices: Ints

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """The fields by name, as they are saved."""
        return {entry.name: getattr(self, entry.name) for entry in fields(self)}

    def check(self, n: int, n_labels: int) -> None:
        """Raise a ``ValueError`` where the arrays do not fit one another, or ``n`` variables of ``n_labels`` labels."""
        self._check_labels(n, n_labels)
        self._check_order()
        self._check_tables()

    def _check_labels(self, n: int, n_labels: int) -> None:
        if self.labels.ndim != 2 or len(self.labels) != n or self.labels.size == 0:
            raise ValueError(f"labels of eliminated variables must have shape ({n}, L), got {self.labels.shape}")
        if self.labels.min() < -1 or self.labels.max() >= n_labels or (self.labels[:, 0] < 0).any():
            raise ValueError(f"labels of eliminated variables must lie in 0..{n_labels - 1}")
        if (np.diff((self.labels >= 0).astype(np.int8), axis=1) > 0).any():
            raise ValueError("labels of eliminated variables must come before the padding")

    def _check_order(self) -> None:
        several, n_eliminated = np.flatnonzero(self.sizes > 1), len(self.variables)
        one_axis = self.kept.ndim == self.variables.ndim == 1
        if not one_axis or not np.array_equal(np.sort(np.concatenate([self.kept, self.variables])), several):
            raise ValueError("every variable of two and more labels must be either kept or eliminated")
        lengths = np.diff(self.scope_start)
        if len(self.scope_start) != n_eliminated + 1 or ((lengths < 0) | (lengths > LARGEST_SEPARATOR)).any():
            raise ValueError("scope_start must have one more entry than eliminated variables, and not fall")
        if list(self.scope_start[[0, -1]]) != [0, len(self.scope)] or not np.isin(self.scope, several).all():
            raise ValueError("scope must hold variables of two and more labels")
        for e in range(n_eliminated):
            if any(self._rank.get(u, n_eliminated) <= e for u in self._scope(e)):
                raise ValueError("a separator must be kept, or eliminated later")

    def _check_tables(self) -> None:
        shapes = [self._table_shape(e) for e in range(len(self.variables))]
        states = [math.prod(shape[:-1]) for shape in shapes]
        if self.values.shape != (sum(map(math.prod, shapes)),) or self.choices.shape != (sum(states),):
            raise ValueError("values and choices must have an entry for each state of the tables")
        if self.values.size and not (self.values.min() >= 0 and self.values.max() <= 1 + 1e-6):
            raise ValueError("values must be probabilities")
        if (self.choices < 0).any() or (self.choices >= np.repeat(self.sizes[self.variables], states)).any():
            raise ValueError("choices must be labels")

    @cached_property
    def sizes(self) -> Ints:
        """(n,) number of labels of each variable."""
        return np.asarray((self.labels >= 0).sum(1))

    def kept_marginals(self, marginals: Floats) -> Floats:
        """(..., m, L') marginals of the kept variables, from those (..., n, L) of the whole field."""
        labels = self.labels[self.kept]
        return np.where(labels >= 0, marginals[..., self.kept[:, None], np.maximum(labels, 0)], 0.0)

    def marginals(self, q: Floats, n_labels: int) -> Floats:
        """(K, n, L) marginals of all variables, from those (K, m, L') of the kept ones."""
        small = np.zeros((len(q), *self.labels.shape))
        small[:, self.sizes == 1, 0] = 1.0
        small[:, self.kept, : q.shape[-1]] = q
        for one in small:
            kernels.conditionals.fill_marginals(self._flat, self.values, one)
        return self._over_all_labels(small, n_labels)

    def _over_all_labels(self, small: Floats, n_labels: int) -> Floats:
        full = np.zeros((*small.shape[:2], n_labels))
        variable, label = np.nonzero(self.labels >= 0)
        full[:, variable, self.labels[variable, label]] = small[:, variable, label]
        return full

    def sample(self, kept: Ints, rng: np.random.Generator) -> Ints:
        """(N, n) labels of the whole field, drawn given the labels (N, m) of the kept variables here."""
        x = self._with_kept(kept)
        for batch in self._batches:
            cumulative = np.cumsum(batch.given(x), axis=-1)
            uniform = rng.random(cumulative.shape[:-1]) * cumulative[..., -1]
            x[:, batch.variables] = (uniform[..., None] >= cumulative).sum(-1)
        return self._original(x)

    def complete(self, kept: Ints) -> Ints:
        """(N, n) labels of the whole field of lowest energy given the labels (N, m) of the kept variables here."""
        x = self._with_kept(kept)
        kernels.conditionals.fill_choices(self._flat, self.choices, x)
        return self._original(x)

    def reduce(self, x: Ints) -> tuple[Ints, NDArray[np.bool_]]:
        """(N, n) labels here of labels (N, n) of the whole field, and (N,) whether all of them exist here."""
        match = self.labels[None] == x[..., None]
        return match.argmax(-1), match.any(-1).all(-1)

    def log_prob(self, x: Ints) -> Floats:
        """(N,) sum_v log P(x_v | x_s(v)) of labels (N, n) here."""
        total = np.zeros(len(x))
        with np.errstate(divide="ignore"):
            for batch in self._batches:
                given = np.take_along_axis(batch.given(x), x[:, batch.variables, None], -1)
                total += np.log(given[..., 0]).sum(-1)
        return total

    @cached_property
    def _rank(self) -> dict[int, int]:
        """The place of each eliminated variable in the order."""
        return {v: e for e, v in enumerate(self.variables.tolist())}

    def _with_kept(self, kept: Ints) -> Ints:
        x = np.zeros((len(kept), len(self.labels)), np.int64)
        x[:, self.kept] = kept
        return x

    def _original(self, x: Ints) -> Ints:
        return np.asarray(self.labels[np.arange(len(self.labels)), x])

    def _scope(self, e: int) -> list[int]:
        return [int(u) for u in self.scope[self.scope_start[e] : self.scope_start[e + 1]]]

    @cached_property
    def _batches(self) -> list[_Batch]:
        """By depth: a variable is one deeper than the deepest of its separator."""
        depth: dict[int, int] = {}
        members: defaultdict[tuple[int, tuple[int, ...]], list[int]] = defaultdict(list)
        for e in range(len(self.variables) - 1, -1, -1):
            scope = self._scope(e)
            depth[e] = 1 + max((depth[self._rank[u]] for u in scope if u in self._rank), default=-1)
            members[depth[e], self._table_shape(e)].append(e)
        return [self._batch(shape, members[level, shape]) for level, shape in sorted(members)]

    def _table_shape(self, e: int) -> tuple[int, ...]:
        return tuple(int(self.sizes[u]) for u in (*self._scope(e), self.variables[e]))

    def _batch(self, shape: tuple[int, ...], members: list[int]) -> _Batch:
        entries = math.prod(shape)
        tables = np.stack([self.values[k : k + entries] for k in self._flat.start[members]])
        scopes = np.array([self._scope(e) for e in members], np.int64).reshape(len(members), len(shape) - 1)
        return _Batch(self.variables[members], scopes, tables.reshape(len(members), *shape))

    @cached_property
    def _flat(self) -> FlatTables:
        n_eliminated = len(self.variables)
        rank = np.full(len(self.labels), n_eliminated, np.int64)
        rank[self.variables] = np.arange(n_eliminated)
        lengths = np.insert(self.sizes[self.scope], self.scope_start[1:], self.sizes[self.variables])
        entries = np.multiply.reduceat(lengths, self.scope_start[:-1] + np.arange(n_eliminated))
        states: Ints = entries // self.sizes[self.variables]
        return kernels.conditionals.FlatTables(
            variables=self.variables,
            scope_start=self.scope_start,
            scope=self.scope,
            sizes=self.sizes,
            rank=rank,
            start=np.cumsum(entries) - entries,
            choice_start=np.cumsum(states) - states,
        )
