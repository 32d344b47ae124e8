"""Variables put back after elimination, from the last eliminated to the first.

Eliminated variable e has a table with one axis for each variable of its separator, ``scope[scope_start[e]:...]``, and a
last axis for itself; tables lie one after the other in the order of elimination.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mixfield.kernels.jit import Bools, Floats, Int64s, Integer, jit


class FlatTables(NamedTuple):
    """The tables of E eliminated variables of n."""

    variables: Int64s  # (E,) in the order of elimination
    scope_start: Int64s  # (E + 1,)
    scope: Int64s  # separators
    sizes: Int64s  # (n,) number of labels
    rank: Int64s  # (n,) place in the order, E for variables that are kept
    start: Int64s  # (E,) where tables begin, with their last axis
    choice_start: Int64s  # (E,) the same without it


@jit()
def fill_marginals(flat: FlatTables, values: Floats, q: Floats) -> None:
    """Fill the rows of eliminated variables in ``q`` (n, L), those of kept ones being known; values are P(v | s)."""
    joints = np.empty_like(values)
    for e in range(flat.variables.shape[0] - 1, -1, -1):
        v, start = flat.variables[e], flat.start[e]
        separator = _separator(flat, e, joints, q)
        for s in range(separator.shape[0]):
            for l in range(flat.sizes[v]):
                at = start + s * flat.sizes[v] + l
                joints[at] = separator[s] * values[at]
                q[v, l] += joints[at]


@jit()
def fill_choices(flat: FlatTables, choices: Int64s, x: Int64s) -> None:
    """Fill the labels of eliminated variables in ``x`` (N, n) with the entries of tables without a last axis."""
    for row in range(x.shape[0]):
        for e in range(flat.variables.shape[0] - 1, -1, -1):
            at = 0
            for a in range(flat.scope_start[e], flat.scope_start[e + 1]):
                at = at * flat.sizes[flat.scope[a]] + x[row, flat.scope[a]]
            x[row, flat.variables[e]] = choices[flat.choice_start[e] + at]


@jit()
def _separator(flat: FlatTables, e: Integer, joints: Floats, q: Floats) -> Floats:
    """(S,) probabilities of the states of a separator: a product over the cliques that share it."""
    scope = flat.scope[flat.scope_start[e] : flat.scope_start[e + 1]]
    strides, n_states = np.empty(scope.shape[0], np.int64), 1
    for a in range(scope.shape[0] - 1, -1, -1):
        strides[a] = n_states
        n_states *= flat.sizes[scope[a]]
    product, is_left = np.ones(n_states), np.ones(scope.shape[0], np.bool_)
    while is_left.any():
        head = -1
        for a in range(scope.shape[0]):
            if is_left[a] and (head < 0 or flat.rank[scope[a]] < flat.rank[head]):
                head = scope[a]
        marginal, shared = np.zeros(n_states), np.zeros(scope.shape[0], np.int64)
        _add_clique(flat, head, scope, strides, is_left, joints, q, marginal, shared)
        for s in range(n_states):
            at = 0
            for a in range(scope.shape[0]):
                at += s // strides[a] % flat.sizes[scope[a]] * shared[a]
            product[s] *= marginal[at]
    return product


@jit()
def _add_clique(
    flat: FlatTables, head: Integer, scope: Int64s, strides: Int64s, is_left: Bools, joints: Floats, q: Floats,
    marginal: Floats, shared: Int64s,
) -> None:  # fmt: skip
    """Add the distribution of those of a separator that are left and in the clique of ``head`` to ``marginal`` (S,).

    Their strides are written to ``shared``, and they are left no longer.
    """
    r = flat.rank[head]
    is_kept = r == flat.variables.shape[0]
    clique = flat.scope[:0] if is_kept else flat.scope[flat.scope_start[r] : flat.scope_start[r + 1]]
    steps, n_entries = np.zeros(clique.shape[0] + 1, np.int64), flat.sizes[head]
    for c in range(steps.shape[0]):
        u = head if c == clique.shape[0] else clique[c]
        n_entries *= 1 if c == clique.shape[0] else flat.sizes[u]
        for a in range(scope.shape[0]):
            if scope[a] == u and is_left[a]:
                steps[c] = shared[a] = strides[a]
                is_left[a] = False
    for entry in range(n_entries):
        at, rest = entry % flat.sizes[head] * steps[-1], entry // flat.sizes[head]
        for c in range(clique.shape[0] - 1, -1, -1):
            at += rest % flat.sizes[clique[c]] * steps[c]
            rest //= flat.sizes[clique[c]]
        marginal[at] += q[head, entry] if is_kept else joints[flat.start[r] + entry]
