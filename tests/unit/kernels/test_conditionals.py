"""Variables put back: marginals and labels by enumeration; also run without the compiler."""

from __future__ import annotations

import naive
import numpy as np
import pytest

from mixfield.kernels import conditionals

pytestmark = pytest.mark.interpreted

# 4 and 5 are kept; 2 and 3 hang on them, 1 on 2 and 4, and the separator of 0 lies in two cliques
COUNTS = [2, 3, 2, 3, 2, 3]
SCOPES = {0: (1, 2, 3), 1: (2, 4), 2: (4,), 3: (5,)}


def _flat():
    shapes = [[*(COUNTS[u] for u in scope), COUNTS[v]] for v, scope in SCOPES.items()]
    entries = np.array([np.prod(shape) for shape in shapes])
    states = np.array([int(np.prod(shape[:-1])) for shape in shapes])
    flat = conditionals.FlatTables(
        variables=np.array(list(SCOPES)),
        scope_start=np.cumsum([0, *map(len, SCOPES.values())]),
        scope=np.array([u for scope in SCOPES.values() for u in scope]),
        sizes=np.array(COUNTS),
        rank=np.array([0, 1, 2, 3, 4, 4]),
        start=np.cumsum(entries) - entries,
        choice_start=np.cumsum(states) - states,
    )
    return flat, shapes


def test_marginals():
    rng = np.random.default_rng(0)
    flat, shapes = _flat()
    tables = [rng.dirichlet(np.ones(shape[-1]), shape[:-1]) for shape in shapes]
    q = np.zeros((6, 3))
    q[4, :2], q[5] = [0.3, 0.7], [0.2, 0.5, 0.3]
    expected = np.zeros((6, 3))
    for x in naive.states(COUNTS):
        p = q[4, x[4]] * q[5, x[5]]
        for (v, scope), table in zip(SCOPES.items(), tables, strict=True):
            p *= table[(*x[list(scope)], x[v])]
        expected[range(6), x] += p
    conditionals.fill_marginals(flat, np.concatenate([table.ravel() for table in tables]), q)
    np.testing.assert_allclose(q, expected, atol=1e-12)


def test_choices():
    rng = np.random.default_rng(1)
    flat, shapes = _flat()
    tables = [rng.integers(0, shape[-1], shape[:-1]) for shape in shapes]
    x = np.zeros((6, 6), np.int64)
    x[:, 4:] = naive.states(COUNTS[4:])
    conditionals.fill_choices(flat, np.concatenate([table.ravel() for table in tables]), x)
    for row in x:
        for (v, scope), table in zip(SCOPES.items(), tables, strict=True):
            assert row[v] == table[tuple(row[list(scope)])]
