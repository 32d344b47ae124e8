"""The paper's motivation (section 3): of four zones exactly one is undecided, and its odds are the exact odds."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf

CASES = [(8, seed) for seed in range(5)] + [(16, seed) for seed in range(2)]


@pytest.fixture(scope="module", params=CASES, ids=lambda case: f"{case[0]}x{case[0]}-{case[1]}")
def case(request):
    size, seed = request.param
    graph = mf.datasets.four_zones(size, rng=seed)
    return graph, mf.infer(graph, 2)


def _observed(constraint):
    """The one label that a strict cut of a binary variable leaves, as evidence."""
    assert len(constraint.group) == 1
    label = int(constraint.labels[0])
    return {int(constraint.group[0]): label if constraint.sign > 0 else 1 - label}


def test_exactly_the_strong_uninformed_quarter_flips(case):
    """Flipped: the marginal of label 1 moves by more than 0.5 between the two modes."""
    graph, post = case
    half = graph.shape[0] // 2
    wanted = np.zeros(graph.shape, bool)
    wanted[half:, half:] = True
    first, second = (mode.marginals[..., 1] for mode in post.modes)
    np.testing.assert_array_equal(np.abs(first - second) > 0.5, wanted)
    assert (first[:half] > 0.5).all()  # both see the evidence of the top half
    assert (second[:half] > 0.5).all()


def test_the_odds_are_the_exact_odds_of_the_two_cells(case):
    graph, post = case
    odds = np.log(post.weights[0] / post.weights[1])
    (evidence, other) = (_observed(*mode.constraints) for mode in post.modes)
    ((variable, label),) = evidence.items()
    assert other == {variable: 1 - label}
    exact = mf.exact(graph)
    marginal = exact.marginals.reshape(-1, 2)[variable]
    truth = np.log(marginal[label] / marginal[1 - label])
    assert odds == pytest.approx(truth, abs=0.5)
    if graph.n <= 64:  # the same truth from the two cells themselves, and the cells are all there is
        cells = [mf.exact(graph.condition(e)).log_z for e in (evidence, other)]
        assert truth == pytest.approx(cells[0] - cells[1], abs=1e-8)
        assert np.logaddexp(*cells) == pytest.approx(exact.log_z, abs=1e-9)
        for mode, cell in zip(post.modes, cells, strict=True):
            assert mode.log_z <= cell + 1e-9
    assert post.log_z <= exact.log_z + 1e-9


def test_one_mean_field_is_blind_to_the_other_half(case):
    """A single mean field decides the undecided quarter; the mixture is near the exact marginals there."""
    graph, post = case
    half = graph.shape[0] // 2
    single = mf.mean_field(graph).marginals[half:, half:, 1]
    truth = mf.exact(graph).marginals[half:, half:, 1] if graph.n <= 64 else None
    assert np.abs(single - 0.5).min() > 0.2
    if truth is not None:
        mixture = post.marginals()[half:, half:, 1]
        assert np.abs(mixture - truth).mean() < 0.5 * np.abs(single - truth).mean()
