"""Probabilities of candidates by their features."""

from __future__ import annotations

from dataclasses import astuple

import numpy as np
import pytest

import mixfield as mf
from mixfield.interactive.candidate_maps import candidate_maps
from mixfield.interactive.candidate_weights import (
    OF_CORRECTIONS,
    OF_SCORE_CORRECTIONS,
    OF_SCORES,
    OF_STROKES,
    CandidateWeights,
    candidate_features,
    candidate_model,
    candidate_probabilities,
)
from mixfield.interactive.canvas import Canvas
from mixfield.interactive.corrections import Correction, correction_features
from mixfield.interactive.region_candidates import LastAction, candidates
from mixfield.interactive.region_field import region_field

pytest.importorskip("skimage")

IMAGE = np.random.default_rng(0).integers(60, 140, (40, 60, 3)).astype(np.uint8)  # unclear
IMAGE[10:30, 15:28] += 30
IMAGE[10:30, 34:48] += 25
STROKES = np.full(IMAGE.shape[:2], -1)
STROKES[20, 20] = 1
CLICK = Correction(20, 20, 1, np.zeros(IMAGE.shape[:2], int))


@pytest.fixture(scope="module")
def found():
    field = region_field(Canvas.of(IMAGE), STROKES, 2)
    last = LastAction(CLICK.shown, STROKES >= 0, 1)
    return field, candidates(field, [mf.mean_field(field.energy)], last)


def maps_of(found):
    field, several = found
    return candidate_maps(field, several, LastAction(CLICK.shown, STROKES >= 0, 1))


def test_features_are_those_of_the_weights(found):
    field, several = found
    features = candidate_features(field, several, [CLICK, CLICK], maps_of(found))
    assert features.shape == (len(several), len(astuple(OF_CORRECTIONS.weights)))
    np.testing.assert_allclose(features[:, -2:], 2 * correction_features(maps_of(found), CLICK))
    assert features[:, 0].max() == 0
    np.testing.assert_array_equal(features[:, 3] > 0, [one.kept for one in several])


def test_probabilities_follow_the_weights(found):
    field, several = found
    maps = maps_of(found)
    deep = candidate_probabilities(field, several, [CLICK], maps, CandidateWeights(0.0, depth=50.0))
    features = candidate_features(field, several, [CLICK], maps)
    np.testing.assert_allclose(deep.sum(), 1)
    assert features[deep.argmax(), -1] == features[:, -1].max()
    flat = candidate_probabilities(field, several, [CLICK], maps, CandidateWeights(0.0))
    np.testing.assert_allclose(flat, 1 / len(several))


def test_scores_and_clicks_have_models_of_their_own():
    models = [[candidate_model(has_scores=s, corrected=c) for c in (False, True)] for s in (False, True)]
    assert models == [[OF_STROKES, OF_CORRECTIONS], [OF_SCORES, OF_SCORE_CORRECTIONS]]
