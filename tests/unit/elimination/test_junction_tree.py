"""Exact inference against enumeration of all states."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixfield.elimination.junction_tree import exact
from mixfield.errors import InfeasibleError, MixfieldError, TooLargeError


@dataclass(frozen=True)
class Tables:
    """The least that `exact` accepts."""

    counts: tuple[int, ...]
    tables: list[tuple[tuple[int, ...], np.ndarray]]

    @property
    def shape(self):
        return (len(self.counts),)

    @property
    def label_counts(self):
        return np.array(self.counts, int)

    @property
    def n_labels(self):
        return max(self.counts, default=1)

    def factors(self):
        return self.tables


@st.composite
def models(draw, chances_of_infinity=(0.0, 0.1, 0.3)):
    counts = tuple(draw(st.lists(st.integers(1, 4), max_size=6)))
    scope = st.lists(st.integers(0, len(counts) - 1), max_size=4, unique=True) if counts else st.just([])
    scopes = draw(st.lists(scope.map(tuple), max_size=8))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scale = draw(st.sampled_from([0.1, 3.0, 300.0]))
    forbidden = draw(st.sampled_from(chances_of_infinity))
    return Tables(
        counts, [(scope, _random_table(rng, [counts[v] for v in scope], scale, forbidden)) for scope in scopes]
    )


def _random_table(rng, shape, scale, forbidden):
    costs = scale * rng.standard_normal(shape)
    return np.where(rng.random(shape) < forbidden, np.inf, costs)


def _enumerated(model):
    """Log Z and marginals by adding up every state; log Z is -inf if there is none."""
    states = list(itertools.product(*map(range, model.counts)))
    scores = np.array([-sum(float(t[tuple(x[v] for v in scope)]) for scope, t in model.tables) for x in states])
    top = scores.max()
    if top == -np.inf:
        return -math.inf, None
    log_z = top + math.log(np.exp(scores - top).sum())
    marginals = np.zeros((len(model.counts), model.n_labels))
    for state, probability in zip(states, np.exp(scores - log_z), strict=True):
        marginals[range(len(state)), state] += probability
    return log_z, marginals


def _grid(height, width, coupling, rng):
    """Binary grid with random fields and couplings."""
    number = np.arange(height * width).reshape(height, width)
    edges = [
        *zip(number[:, :-1].flat, number[:, 1:].flat, strict=True),
        *zip(number[:-1].flat, number[1:].flat, strict=True),
    ]
    spin = np.array([[-1.0, 1.0], [1.0, -1.0]])
    pairs = [((int(a), int(b)), rng.uniform(-coupling, coupling) * spin) for a, b in edges]
    fields = [((v,), rng.uniform(-2, 2) * np.array([1.0, -1.0])) for v in range(height * width)]
    return Tables((2,) * (height * width), fields + pairs)


@given(models())
@settings(max_examples=300, deadline=None)
def test_agrees_with_enumeration(model):
    log_z, marginals = _enumerated(model)
    if log_z == -math.inf:
        with pytest.raises(InfeasibleError, match="every state has infinite cost"):
            exact(model)
        return
    answer = exact(model)
    assert answer.log_z == pytest.approx(log_z, rel=1e-12, abs=1e-10)
    np.testing.assert_allclose(answer.marginals, marginals, rtol=0, atol=1e-10)


@given(models(chances_of_infinity=(0.0,)), st.randoms(use_true_random=False))
@settings(max_examples=50, deadline=None)
def test_does_not_depend_on_the_order_of_variables_and_factors(model, random):
    new_name = list(range(len(model.counts)))
    random.shuffle(new_name)
    renamed = [(tuple(new_name[v] for v in scope), table) for scope, table in model.tables]
    random.shuffle(renamed)
    counts = tuple(model.counts[new_name.index(v)] for v in range(len(new_name)))
    one, other = exact(model), exact(Tables(counts, renamed))
    assert other.log_z == pytest.approx(one.log_z, abs=1e-10)
    np.testing.assert_allclose(other.marginals[new_name], one.marginals, atol=1e-10)


def test_chain_as_a_matrix_product():
    rng = np.random.default_rng(1)
    tables = rng.standard_normal((2999, 3, 3))
    answer = exact(Tables((3,) * 3000, [((i, i + 1), table) for i, table in enumerate(tables)]))
    forward, log_z = np.ones(3), 0.0
    for table in tables:
        forward = forward @ np.exp(-table)
        log_z += math.log(forward.sum())
        forward /= forward.sum()
    assert answer.treewidth == 1
    assert answer.log_z == pytest.approx(log_z, rel=1e-12)
    np.testing.assert_allclose(answer.marginals[-1], forward, atol=1e-12)


def test_grid_with_strong_couplings_against_a_transfer_matrix():
    """A strip of 8 x 20 with couplings up to 200: column by column, in log space."""
    height, width = 8, 20
    model = _grid(height, width, 200.0, np.random.default_rng(2))
    states = np.array(list(itertools.product([0, 1], repeat=height)))
    cost = dict(model.tables)
    message = np.zeros(len(states))
    for column in range(width):
        inside = sum(cost[(r * width + column,)][states[:, r]] for r in range(height))
        for r in range(height - 1):
            inside = inside + cost[(r * width + column, (r + 1) * width + column)][states[:, r], states[:, r + 1]]
        message = message - inside
        if column + 1 < width:
            across = [cost[(r * width + column, r * width + column + 1)] for r in range(height)]
            step = sum(t[states[:, None, r], states[None, :, r]] for r, t in enumerate(across))
            message = np.logaddexp.reduce(message[:, None] - step, axis=0)
    answer = exact(model)
    assert answer.treewidth >= height
    assert answer.log_z == pytest.approx(np.logaddexp.reduce(message), rel=1e-13)


def test_marginals_have_the_shape_of_the_energy():
    class Square(Tables):
        shape = (2, 2)

    answer = exact(Square((2, 3, 1, 2), [((1,), np.array([0.0, np.inf, 0.0]))]))
    np.testing.assert_allclose(
        answer.marginals, [[[0.5, 0.5, 0], [0.5, 0, 0.5]], [[1, 0, 0], [0.5, 0.5, 0]]], rtol=0, atol=1e-15
    )
    assert answer.log_z == pytest.approx(math.log(2 * 2 * 2))


def test_constants_only():
    answer = exact(Tables((), [((), np.array(1.5)), ((), np.array(-0.5))]))
    assert answer.log_z == -1.0
    assert answer.marginals.shape == (0, 1)


def test_evidence_shrinks_the_tree():
    """A label that only one neighbour forbids takes the whole chain of implications with it."""
    model = _grid(6, 6, 1.0, np.random.default_rng(3))
    equal = np.where(np.eye(2, dtype=bool), 0.0, np.inf)
    chain = [((v, v + 1), equal) for v in range(35)]
    observed = ((0,), np.array([np.inf, 0.0]))
    answer = exact(Tables(model.counts, [*model.tables, *chain, observed]))
    assert answer.treewidth == 0
    np.testing.assert_array_equal(answer.marginals[:, 1], 1.0)


def test_the_same_model_gives_the_same_bytes():
    model = _grid(9, 9, 3.0, np.random.default_rng(4))
    one, other = exact(model), exact(model)
    assert one.log_z == other.log_z
    np.testing.assert_array_equal(one.marginals, other.marginals)


def test_memory_is_a_limit():
    model = _grid(6, 6, 1.0, np.random.default_rng(5))
    needed = exact(model).table_bytes
    assert exact(model, memory=needed).table_bytes == needed
    with pytest.raises(TooLargeError, match=rf"treewidth \d+\) and {needed:,} bytes of tables, more than memory="):
        exact(model, memory=needed - 1)


def test_a_large_grid_is_refused_at_once():
    with pytest.raises(TooLargeError, match=r"treewidth \d\d\) and about 10\^\d\d bytes .* raise memory, fix some"):
        exact(_grid(40, 40, 1.0, np.random.default_rng(6)))


def test_contradictions_that_no_single_factor_shows():
    different = np.where(np.eye(2, dtype=bool), np.inf, 0.0)
    triangle = [((0, 1), different), ((1, 2), different), ((0, 2), different)]
    with pytest.raises(InfeasibleError, match="contradict each other"):
        exact(Tables((2, 2, 2), triangle))


def test_a_label_without_support_is_named():
    with pytest.raises(InfeasibleError, match="no label of variable 1 can occur"):
        exact(Tables((2, 2), [((1,), np.array([np.inf, np.inf]))]))


def test_a_black_box_is_refused_by_name():
    class BlackBox:
        shape, label_counts, n_labels = (2,), np.array([2, 2]), 2

    with pytest.raises(MixfieldError, match="exact needs 'factors', BlackBox does not provide it: a black box cannot"):
        exact(BlackBox())


@pytest.mark.parametrize(
    ("scope", "table", "message"),
    [
        ((0, 1), np.zeros((2, 2)), r"shape \(2, 3\), got \(2, 2\)"),
        ((0, 0), np.zeros((2, 2)), "all different"),
        ((0,), np.array([0.0, np.nan]), "must not be NaN or -inf"),
        ((0,), np.array([0.0, -np.inf]), "must not be NaN or -inf"),
    ],
)
def test_wrong_factors_are_named(scope, table, message):
    with pytest.raises(MixfieldError, match=message):
        exact(Tables((2, 3), [(scope, table)]))


def test_importing_the_module_does_not_load_numba():
    code = "import sys, mixfield.elimination.junction_tree; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
