"""A factor model with variables summed out: the field of the rest, and what puts the others back.

Eliminating v, with c the costs of the tables that contain v and s the other variables in them,

    m(s) = -log sum_x exp(-c(x, s)),    P(x | s) = exp(m(s) - c(x, s)),

replaces those tables by the table m.  The rest has the energy -log sum exp(-E) over the eliminated variables: the same
log Z, and a mean field of the rest times the P(x | s) is a distribution of all variables whose KL divergence to the
whole field is that of the rest.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixfield import _arrays
from mixfield.elimination.bounded_orders import Separators, bounded_order
from mixfield.elimination.conditionals import Conditionals
from mixfield.elimination.reduction import Factor, FactorModel, Floats, Labels, absorb, aligned, reduced_model

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Collapsed:
    """A factor model without its eliminated variables.

    Attributes
    ----------
    label_counts : (m,) labels of each kept variable.
    factors : costs over the kept variables, numbered from 0, with ``()`` for the constant.
    conditionals : the other variables.
    """

    label_counts: list[int]
    factors: list[Factor]
    conditionals: Conditionals


def collapse(model: FactorModel, *, limit: int, keep: int) -> Collapsed:
    """Eliminate variables while their tables stay small.

    Parameters
    ----------
    model : see `FactorModel`; labels that infinite costs rule out, factor by factor, are removed first.
    limit : largest number of entries of a table of an eliminated variable and its neighbours.
    keep : number of variables that must remain.

    Raises
    ------
    InfeasibleError
        A variable has no label that can occur.
    """
    reduced = reduced_model(model)
    sizes, constant = reduced.sizes, reduced.constant
    order = bounded_order(sizes, [scope for scope, _ in reduced.tables], limit=limit, keep=keep)
    elimination = _Elimination(sizes, reduced.tables)
    for v, separator in order.items():
        constant += elimination.remove(v, separator)
    kept = [v for v, size in enumerate(sizes) if size > 1 and v not in order]
    place = {v: k for k, v in enumerate(kept)}
    rest = [(tuple(place[v] for v in scope), -table) for scope, table in absorb(elimination.rest())]
    conditionals = elimination.conditionals(reduced.allowed, kept, order)
    return Collapsed([sizes[v] for v in kept], [((), np.array(-constant)), *rest], conditionals)


class _Elimination:
    """The tables while variables are removed, log-potentials for sums and for maxima side by side."""

    def __init__(self, sizes: list[int], tables: list[Factor]) -> None:
        self._sizes = sizes
        self._tables: dict[int, tuple[tuple[int, ...], Floats, Floats]] = {}
        self._tables_of: defaultdict[int, set[int]] = defaultdict(set)
        self._values: list[Floats] = []
        self._choices: list[Ints] = []
        self._added = 0
        for scope, table in tables:
            self._add(scope, table, table)

    def _add(self, scope: tuple[int, ...], table: Floats, largest: Floats) -> None:
        self._tables[self._added] = scope, table, largest
        for v in scope:
            self._tables_of[v].add(self._added)
        self._added += 1

    def remove(self, v: int, separator: tuple[int, ...]) -> float:
        """Eliminate v; returns what that adds to the constant of the log-potentials."""
        scope = (*separator, v)
        shape = [self._sizes[u] for u in scope]
        total, largest = np.zeros(shape), np.zeros(shape)
        for k in sorted(self._tables_of.pop(v, ())):
            variables, table, best = self._tables.pop(k)
            total += aligned(variables, table, scope)
            largest += aligned(variables, best, scope)
            for u in variables:
                self._tables_of[u].discard(k)
        message, conditional = _summed_out(total)
        self._values.append(conditional.ravel())
        self._choices.append(largest.argmax(-1).ravel())
        if not separator:
            return float(message)
        self._add(separator, message, largest.max(-1))
        return 0.0

    def rest(self) -> list[Factor]:
        """The tables that are left."""
        return [(scope, table) for scope, table, _ in self._tables.values()]

    def conditionals(self, allowed: list[Labels], kept: list[int], order: Separators) -> Conditionals:
        """What puts the removed variables back."""
        labels = np.full((len(allowed), max(map(len, allowed), default=1)), -1, np.int64)
        for v, some in enumerate(allowed):
            labels[v, : len(some)] = some
        return Conditionals(
            labels=labels,
            kept=np.array(kept, np.int64),
            variables=np.array(list(order), np.int64),
            scope_start=_arrays.starts([len(scope) for scope in order.values()]),
            scope=np.array([u for scope in order.values() for u in scope], np.int64),
            values=np.concatenate([np.zeros(0), *self._values]),
            choices=np.concatenate([np.zeros(0, np.int64), *self._choices]),
        )


def _summed_out(total: Floats) -> tuple[Floats, Floats]:
    """Log of the sum of the exponentials over the last axis, and their shares; uniform where all are zero."""
    top = total.max(-1, keepdims=True)
    powers = np.exp(total - np.where(np.isfinite(top), top, 0.0))
    powers[np.isneginf(top[..., 0])] = 1.0
    sums = powers.sum(-1, keepdims=True)
    return np.where(np.isneginf(top), -np.inf, top + np.log(sums))[..., 0], powers / sums
