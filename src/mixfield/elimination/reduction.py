"""A factor model made smaller before elimination: without labels that cannot occur, small tables in larger ones."""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mixfield.errors import InfeasibleError, MixfieldError

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]
Factor = tuple[tuple[int, ...], Floats]


class FactorModel(Protocol):
    """What `mixfield.exact` asks of an energy: its variables and the tables that sum to it."""

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


@dataclass(frozen=True, eq=False)
class ReducedModel:
    """Log-potentials of a factor model, over the variables that have a choice.

    Attributes
    ----------
    allowed : the labels of each variable that can occur.
    constant : sum of the log-potentials without a choice.
    tables : the others, over the allowed labels; none has all the variables of another.
    """

    allowed: list[Labels]
    constant: float
    tables: list[Factor]

    @property
    def sizes(self) -> list[int]:
        """(n,) number of allowed labels of each variable."""
        return [len(labels) for labels in self.allowed]


def reduced_model(model: FactorModel) -> ReducedModel:
    """The model without labels that cannot occur; raises an `InfeasibleError` if a variable has no other."""
    counts, factors = checked_tables(model)
    allowed = allowed_labels(counts, factors)
    constant, tables = log_potentials(factors, allowed)
    return ReducedModel(allowed, constant, absorb(tables))


def checked_tables(energy: FactorModel) -> tuple[list[int], list[Factor]]:
    """Label counts (n,) and float64 cost tables of an energy; raises an error where it is not a factor model."""
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


def allowed_labels(counts: Sequence[int], factors: Iterable[Factor]) -> list[Labels]:
    """Labels of each variable that can occur: arc consistency.

    A label is removed if a factor has no state of finite cost with it, given the labels left to the other variables of
    that factor; this is repeated until nothing changes.
    """
    allowed = [np.arange(count) for count in counts]
    hard = [factor for factor in factors if factor[0] and factor[1].max(initial=0.0) == math.inf]
    factors_of = defaultdict(set)
    for f, (variables, _) in enumerate(hard):
        for v in variables:
            factors_of[v].add(f)
    queue = deque(range(len(hard)))
    queued = set(queue)
    while queue:
        f = queue.popleft()
        queued.remove(f)
        for v in _revise(hard[f], allowed):
            affected = factors_of[v] - queued - {f}
            queue.extend(sorted(affected))
            queued |= affected
    empty = [v for v, labels in enumerate(allowed) if not len(labels)]
    if empty:
        raise InfeasibleError(f"every state has infinite cost: no label of variable {empty[0]} can occur")
    return allowed


def _revise(factor: Factor, allowed: list[Labels]) -> list[int]:
    """Remove the labels to which a factor leaves no state of finite cost; returns the variables that lose some."""
    variables, table = factor
    possible = np.isfinite(table[np.ix_(*(allowed[v] for v in variables))])
    changed = []
    for axis, v in enumerate(variables):
        supported = possible.any(axis=tuple(a for a in range(possible.ndim) if a != axis))
        if not supported.all():
            allowed[v] = allowed[v][supported]
            possible = possible.compress(supported, axis)
            changed.append(v)
    return changed


def log_potentials(factors: Iterable[Factor], allowed: Sequence[Labels]) -> tuple[float, list[Factor]]:
    """Minus the costs of the allowed labels: the sum of those without a choice, and tables over the other variables."""
    constant = 0.0
    tables = []
    for variables, table in factors:
        labels = [allowed[v] for v in variables]
        if any(len(some) < count for some, count in zip(labels, table.shape, strict=True)):
            table = table[np.ix_(*labels)]
        free = tuple(v for v, some in zip(variables, labels, strict=True) if len(some) > 1)
        if free:
            tables.append((free, -table.reshape([len(allowed[v]) for v in free])))
        else:
            constant -= table.item()
    return constant, tables


def absorb(tables: Iterable[Factor]) -> list[Factor]:
    """The same sum, each table added to a larger one that has all its variables, where there is one."""
    kept: list[Factor] = []
    tables_of: defaultdict[int, list[int]] = defaultdict(list)
    for variables, table in sorted(tables, key=lambda factor: -factor[1].size):
        rarest = min(variables, key=lambda v: len(tables_of[v]))
        larger = next((k for k in tables_of[rarest] if set(variables) <= set(kept[k][0])), None)
        if larger is None:
            for v in variables:
                tables_of[v].append(len(kept))
            kept.append((variables, table))
        else:
            scope, total = kept[larger]
            total += aligned(variables, table, scope)
    return kept


def aligned(variables: Sequence[int], table: Floats, scope: Sequence[int]) -> Floats:
    """A view of a table over ``variables`` that broadcasts against the axes ``scope``."""
    axes = [variables.index(v) for v in scope if v in variables]
    shape = [table.shape[variables.index(v)] if v in variables else 1 for v in scope]
    return table.transpose(axes).reshape(shape)
