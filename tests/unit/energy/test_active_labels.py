"""Labels that are left out: the bound on what they could have had, and what is left when they are gone."""

from __future__ import annotations

import importlib.util
import warnings

import naive_dense
import numpy as np
import pytest
from dense_fields import smooth
from hypothesis import given
from hypothesis import strategies as st
from strategies import SEEDS

import mixfield as mf
from mixfield.energy.active_labels import active_labels, restored
from mixfield.errors import NotConvergedWarning


def field(seed, *, n_labels=6, spread=4.0, weight=2.0, **options):
    """Random costs, some labels far off everywhere."""
    rng = np.random.default_rng(seed)
    unary = rng.normal(scale=1.5, size=(5, 6, n_labels)) + rng.uniform(0, spread, n_labels)
    kernels = [mf.Gaussian(1.5, weight), mf.Bilateral(smooth((5, 6), 3, rng), 3.0, 60.0, weight)]
    return mf.DenseCRF(unary, kernels, **options)


@given(SEEDS, st.sampled_from([1.0, 4.0, 15.0]), st.sampled_from([0.0, 0.3, 2.0]), st.sampled_from([1e-3, 0.05, 0.3]))
def test_the_bound_holds_at_every_pixel_after_every_update(seed, spread, weight, negligible):
    crf = field(seed, spread=spread, weight=weight, negligible=negligible)
    kept, bound = active_labels(crf)
    dropped = np.setdiff1d(np.arange(crf.n_labels), kept)
    assert bound <= negligible
    assert len(kept) >= 1
    q = naive_dense.softmax(-crf.unary.astype(float))
    for _ in range(30):
        assert q[..., dropped].sum(-1).max(initial=0.0) <= bound * (1 + 1e-4) + 1e-6
        q = naive_dense.softmax(-crf.local_field(q))


def test_something_is_dropped_and_something_is_kept():
    kept, bound = active_labels(field(0, spread=15.0))
    assert 1 < len(kept) < 6
    assert 0 < bound <= 0.05


def test_zero_keeps_all():
    kept, bound = active_labels(field(0, spread=15.0, negligible=0))
    assert kept.tolist() == list(range(6))
    assert bound == 0.0


def test_a_larger_share_drops_no_fewer():
    sizes = [len(active_labels(field(1, spread=10.0, negligible=share))[0]) for share in (1e-8, 1e-3, 0.05, 0.3)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[-1]


@given(SEEDS)
def test_the_order_of_labels_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    unary = rng.normal(scale=1.5, size=(5, 6, 6)) + rng.uniform(0, 15.0, 6)
    turn = rng.permutation(6)
    kernels = [mf.Gaussian(1.5, 2.0)]
    kept, bound = active_labels(mf.DenseCRF(unary, kernels))
    turned, other = active_labels(mf.DenseCRF(unary[..., turn], kernels))
    assert sorted(turn[turned]) == kept.tolist()
    assert other == pytest.approx(bound, rel=1e-6)


@pytest.mark.parametrize(
    "kernel",
    [
        mf.Gaussian(1.5, -1.0),
        mf.Gaussian(1.5, [1.0, 2.0, 1.0]),
        mf.Gaussian(1.5, compatibility=1.0 - np.eye(3)),
    ],
)
def test_kernels_without_a_bound_keep_all(kernel):
    unary = np.zeros((4, 5, 3)) + np.array([0.0, 0.1, 50.0])
    assert len(active_labels(mf.DenseCRF(unary, [kernel]))[0]) == 3


def test_a_label_that_is_the_only_one_somewhere_is_kept():
    unary = np.zeros((4, 5, 3)) + np.array([0.0, 0.1, 50.0])
    unary[2, 2] = [np.inf, np.inf, 50.0]
    assert 2 in active_labels(mf.DenseCRF(unary, [mf.Gaussian(1.5, 2.0)]))[0]


def test_dropped_labels_come_back_as_zeros_at_their_place():
    rng = np.random.default_rng(0)
    unary = rng.normal(size=(6, 7, 5))
    unary[..., [1, 3]] += 40.0
    crf = mf.DenseCRF(unary, [mf.Gaussian(1.5, 2.0)])
    assert active_labels(crf)[0].tolist() == [0, 2, 4]
    mode = mf.mean_field(crf)
    assert mode.marginals.shape == (6, 7, 5)
    assert not mode.marginals[..., [1, 3]].any()
    everything = mf.mean_field(mf.DenseCRF(unary, [mf.Gaussian(1.5, 2.0)], negligible=0))
    assert mode.marginals == pytest.approx(everything.marginals, abs=1e-4)
    assert mode.log_z == pytest.approx(everything.log_z, abs=1e-2)


def test_restricted_fields_do_not_drop_again():
    crf = field(0, spread=15.0)
    small = crf.restricted(active_labels(crf)[0])
    assert len(active_labels(small)[0]) == small.n_labels


@pytest.fixture(scope="module")
def real(data):
    """The reader of photographs with scores."""
    pytest.importorskip("PIL", reason="Pillow reads the photographs")
    spec = importlib.util.spec_from_file_location("mixfield_data_load", data / "load.py")
    reader = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reader)
    return reader


@pytest.mark.slow
@pytest.mark.parametrize("number", [0, 7, 19, 40])
def test_labels_of_photographs_stay_the_same(real, number):
    image, _, probs = real.load("segmentation/voc", real.names("segmentation/voc")[number])
    solver = mf.Solver(max_iterations=10)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        few, every = (
            mf.mean_field(mf.DenseCRF.from_probabilities(probs, image, negligible=share), solver=solver)
            for share in (0.05, 0.0)
        )
    dropped = ~few.marginals.any(axis=(0, 1))
    assert dropped.sum() >= 10
    assert (few.labeling() == every.labeling()).mean() >= 0.999
    assert every.marginals[..., dropped].sum(-1).max() <= 0.05


def test_labels_left_out_come_back_as_zeros():
    few = np.random.default_rng(0).dirichlet(np.ones(3), (6, 7)).round(1)  # rounded, so that some are equal
    all_of_them = restored(few, np.array([2, 5, 8]), 9)
    assert (all_of_them[..., [2, 5, 8]] == few).all()
    assert all_of_them.sum() == pytest.approx(few.sum())
    assert (mf.Mode(all_of_them, 0.0).labeling() == np.array([2, 5, 8])[few.argmax(-1)]).all()
