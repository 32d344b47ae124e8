"""The ranking of modes of version 0.1: what is visible of a mode, and coefficients learnt from it."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf
from experiments.mode_ranking import FEATURES, fit_ranking, mode_features
from mixfield.apps import segmentation_energy
from mixfield.errors import MixfieldError

SHAPE = (12, 16)


@pytest.fixture
def problem():
    """A bright box that the scores half believe in."""
    image = np.zeros(SHAPE, np.uint8)
    image[3:9, 4:12] = 200
    scores = np.full(SHAPE, 0.05)
    scores[3:9, 4:12] = 0.45
    energy = segmentation_energy(image, scores)
    return image, energy, mf.infer(energy, 2)


def test_features_compare_with_the_mean_field(problem):
    image, energy, posterior = problem
    features = mode_features(posterior, energy, image)
    assert features.shape == (2, len(FEATURES))
    plain, other = features[np.argsort(features[:, 0])]
    assert (plain == 0).all()
    share = (posterior.labelings()[0] != posterior.labelings()[1]).mean()
    assert other[1] == pytest.approx(np.log(share / 0.1), abs=1e-6)
    taken = posterior.labelings()[np.argmax(features[:, 0])][5, 7]
    sign = 1 if taken == 1 else -1  # the box appears, or it vanishes
    assert other[2] == pytest.approx(sign * (0.45 - 0.55), abs=0.05)
    assert sign * other[3] > 0.9  # the boundary of the box is where the image changes
    assert other[4] == (taken == 0)
    expected = np.array([1.0, 0.0]) + np.array([-1.0, 1.0]) * energy.evidence[:, 1].mean()
    shares = [np.bincount(labels.ravel(), minlength=2) / labels.size for labels in posterior.labelings()]
    far = {bool(f): np.abs(share - expected).sum() for f, share in zip(features[:, 0], shares, strict=True)}
    assert other[5] == pytest.approx(far[True] - far[False], abs=1e-6)
    bounds = [mode.log_z for mode in posterior.modes]
    assert other[6] == pytest.approx(np.log1p(abs(bounds[0] - bounds[1]) * 1e4 / energy.n))


def test_the_fit_finds_what_makes_modes_good():
    rng = np.random.default_rng(0)
    true = np.array([-1.0, 0.5, 0.0, 2.0, 0.0, 0.0, 0.0])
    features = [rng.normal(size=(6, 7)) for _ in range(400)]
    chosen = [int(np.argmax(x @ true + rng.gumbel(size=6))) for x in features]
    qualities = [np.eye(6)[best] for best in chosen]
    assert fit_ranking(features, qualities) == pytest.approx(true, abs=0.35)


def test_ties_share_the_credit():
    features = [np.diag(np.arange(7.0))]
    assert np.isfinite(fit_ranking(features, [np.ones(7)])).all()


def test_images_count_by_what_is_at_stake():
    """Where the images disagree, the one whose modes differ more decides."""
    step = np.zeros((2, 7))
    step[1, 3] = 1.0
    for first, second in ((0.1, 0.4), (0.4, 0.1)):
        found = fit_ranking([step, step], [np.array([first, 0.0]), np.array([0.0, second])])
        assert np.sign(found[3]) == np.sign(second - first)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p: mode_features(p[2], p[1], p[0][:-1]), "image"),
        (lambda _: fit_ranking([], []), "not none"),
        (lambda _: fit_ranking([np.zeros((2, 7))], [np.zeros(3)]), r"\(3, 7\)"),
        (lambda _: fit_ranking([np.zeros((2, 6))], [np.zeros(2)]), r"\(2, 7\)"),
        (lambda _: fit_ranking([np.full((2, 7), np.nan)], [np.zeros(2)]), "NaN"),
    ],
)
def test_nonsense_is_refused(call, message, problem):
    with pytest.raises(MixfieldError, match=message):
        call(problem)
