"""How marginals lie in memory."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf
from mixfield.solvers.layout import FEW_LABELS, Layout


@pytest.mark.parametrize("n_labels", [2, 3, 8])
def test_probabilities_of_a_group_are_read_from_the_channels(n_labels):
    rng = np.random.default_rng(n_labels)
    crf = mf.DenseCRF(rng.random((4, 5, n_labels)), [mf.Gaussian(2.0, 1.0)])
    q = rng.dirichlet(np.ones(n_labels), (3, 20)).astype(np.float32)
    points, labels = np.array([0, 7, 19]), np.array([0, n_labels - 1, n_labels - 1])
    layout = Layout(crf, 3)
    values = layout.pack(q)
    for some in (labels, np.zeros_like(labels)):
        assert layout.probabilities(values, 1, points, some) == pytest.approx(q[1, points, some], abs=1e-6)


def _case(n_labels, n_modes, unary=None):
    rng = np.random.default_rng(n_labels + n_modes)
    crf = mf.DenseCRF(np.zeros((4, 5, n_labels)) if unary is None else unary, [mf.Gaussian(2.0, 1.0)])
    return crf, Layout(crf, n_modes), rng.dirichlet(np.ones(n_labels), (n_modes, 20)).astype(np.float32)


@pytest.mark.parametrize(
    ("n_labels", "n_modes"), [(1, 1), (2, 1), (2, 5), (FEW_LABELS, 3), (FEW_LABELS + 1, 3), (21, 1)]
)
def test_channels_and_marginals_are_the_same_numbers(n_labels, n_modes):
    crf, layout, q = _case(n_labels, n_modes)
    channels = layout.pack(q)
    assert layout.stored == (n_labels - 1 if 1 < n_labels <= FEW_LABELS else n_labels)
    assert channels.shape == (crf.n, layout.width)
    assert channels.ctypes.data % 64 == 0
    assert not channels[:, layout.used :].any()
    for k, label in ((0, 0), (n_modes - 1, layout.stored - 1)):
        assert np.array_equal(channels[:, label * n_modes + k], q[k, :, label])
    assert np.shares_memory(layout.by_label(channels), channels)
    assert layout.unpack(channels) == pytest.approx(q, abs=1e-6)


def test_all_labels_are_stored_where_they_are_not_potts():
    crf = mf.DenseCRF(np.zeros((4, 5, 3)), [mf.Gaussian(2.0, compatibility=1.0 - np.eye(3))])
    assert Layout(crf, 2).stored == 3


def test_a_last_label_that_is_forbidden_gets_nothing():
    unary = np.zeros((4, 5, 3))
    unary[1, 2, 2] = np.inf
    _, layout, q = _case(3, 2, unary)
    q[:, 7] = [0.5, 0.4999, 0.0]  # rounding must not give the rest to it
    assert (layout.unpack(layout.pack(q))[:, 7, 2] == 0).all()


def test_some_of_the_modes():
    _, layout, q = _case(3, 4)
    modes = np.array([3, 1])
    channels = layout.pack(q)
    for threads in (1, 2):
        some = layout.take(channels, modes, threads)
        assert layout.of(2).unpack(some) == pytest.approx(q[modes], abs=1e-6)
        assert not some[:, layout.of(2).used :].any()
    assert layout.take(channels, np.arange(4), 1) is channels


@pytest.mark.parametrize(("n_labels", "n_modes"), [(2, 3), (4, 2), (9, 2)])
def test_labelings_are_the_most_probable(n_labels, n_modes):
    _, layout, q = _case(n_labels, n_modes)
    for threads in (1, 2):
        assert np.array_equal(layout.labelings(layout.pack(q), threads), q.argmax(-1))
