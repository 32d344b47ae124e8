"""The calibration of modes, fitted to made-up modes with known answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mixfield.apps import mode_calibration
from mixfield.apps.change_features import ChangeFeatures, Logistic
from mixfield.apps.field_model import FieldModel
from mixfield.apps.mode_calibration import LEAST, Modes, calibrated, held_out_loss, log_loss
from mixfield.apps.offers import Comparison
from mixfield.mixture.calibration import Blend

ANSWER = Logistic(-0.5, 1.2, 0.3, colour=-0.8, gain=4.0, growth=0.4)
MODEL = FieldModel(1.0, None, Logistic(slope=1.0), Logistic(), Blend(1.0, 0.0))


def modes(rng, count=4, pixels=300):
    """Modes of one image: each change is better with the probability of `ANSWER`, and then has the best IoU."""
    features = [
        ChangeFeatures(rng.normal(-1, 1), rng.uniform(-4, -1), rng.uniform(0, 1), rng.normal(0, 0.1), rng.normal(1, 1))
        for _ in range(count)
    ]
    better = np.array([0.0, *(float(rng.random() < ANSWER.probability(one)) for one in features[1:])])
    labels = rng.integers(0, 3, pixels)
    evidence = np.full((pixels, 3), 0.2) + 0.4 * np.eye(3)[np.where(rng.random(pixels) < 0.6, labels, (labels + 1) % 3)]
    marginals = np.stack([rng.dirichlet(np.ones(3), pixels) for _ in range(count)])
    apart = np.full((count, count), 0.1) - 0.1 * np.eye(count)
    follow, compared = np.ones(count, bool), Comparison(apart, 1.0 - 2.0 * apart)
    return Modes(tuple(features), better, better + 0.5, follow, compared, marginals, evidence, evidence.mean(0), labels)


@pytest.fixture(scope="module")
def images():
    rng = np.random.default_rng(0)
    return [modes(rng) for _ in range(300)]


@pytest.fixture(scope="module")
def fitted(images):
    return calibrated(MODEL, images)


def test_planted_answers_are_recovered():
    rng = np.random.default_rng(1)
    fitted = calibrated(MODEL, [modes(rng, pixels=5) for _ in range(1000)])
    assert fitted.answer.slope == pytest.approx(ANSWER.slope, abs=0.25)
    assert fitted.answer.area == pytest.approx(ANSWER.area, abs=0.2)
    assert fitted.answer.colour == pytest.approx(ANSWER.colour, abs=0.4)
    assert fitted.answer.gain == pytest.approx(ANSWER.gain, abs=1.5)
    assert fitted.answer.growth == pytest.approx(ANSWER.growth, abs=0.2)


def test_marginals_that_say_nothing_get_a_small_exponent(images, monkeypatch):
    monkeypatch.setattr(mode_calibration, "PRECISION", (0.0, 0.0, 0.0))
    blending = calibrated(MODEL, images).blending
    assert blending.mode_exponent < 0.05
    assert blending.evidence_exponent > 0.5


def test_the_more_images_the_farther_from_the_prior(images, fitted):
    prior = mode_calibration.PRIOR[0]
    assert fitted.blending.mode_exponent < calibrated(MODEL, images[:30]).blending.mode_exponent < prior


def test_no_blend_nearby_has_a_lower_loss(images, fitted):
    def loss(blend):
        return np.mean([held_out_loss(replace(fitted, blending=blend), one) for one in images])

    best = loss(fitted.blending)
    for change in ({"mode_exponent": 0.15}, {"evidence_exponent": 0.5}, {"outliers": 0.3}):
        assert loss(replace(fitted.blending, **change)) > best


def test_alternatives_that_are_not_offered_do_not_count(images, fitted):
    image = images[0]
    hidden = replace(image, follow=np.array([True, False, False, False]))
    assert hidden.offered(fitted).weights.tolist() == [1.0]
    alone = fitted.blending.of(image.marginals[0], image.evidence, image.frequencies)
    np.testing.assert_allclose(hidden.offered(fitted).mixture(fitted.blending), alone)
    assert held_out_loss(fitted, hidden) == log_loss(alone, image.labels)


def test_close_alternatives_are_offered_once(images, fitted):
    apart = np.full((4, 4), 0.1) - 0.09 * np.eye(4)[[0, 2, 1, 3]] - 0.1 * np.eye(4)
    close = replace(images[0], comparison=Comparison(apart, 1.0 - 2.0 * apart))
    assert len(close.offered(replace(fitted, least_gain=0.0)).weights) == 3


def test_the_hypotheses_are_the_best_modes(images):
    """Where the best mode is always the one with the largest probability, its weight is large."""
    sure = [replace(image, ious=np.array([0.0, *(one.logit for one in image.features[1:])])) for image in images]
    assert calibrated(MODEL, sure).hypothesis.slope > 3


def test_offers_stop_where_alternatives_gain_less_than_they_cost(images):
    """Alternatives gain nothing, or as much as they are expected to add."""
    worthless = [replace(image, ious=np.array([0.5, *[0.4] * 3])) for image in images[:40]]
    assert calibrated(MODEL, worthless).least_gain == max(LEAST)
    compared = Comparison(images[0].comparison.apart, 1.0 - 0.2 * images[0].comparison.apart)
    even = [replace(image, ious=0.5 + 0.02 * np.arange(4.0), comparison=compared) for image in images[:40]]
    fitted = calibrated(MODEL, even)
    assert fitted.least_gain < max(LEAST)
    gains = [
        [image.ious[image.kept(one)[0]].max() - 0.5 for image in even]
        for one in (fitted, replace(fitted, least_gain=0.0))
    ]
    assert np.sum(gains[0]) >= (1 - mode_calibration.LOST) * np.sum(gains[1])
