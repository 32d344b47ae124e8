"""Point correspondences follow the motion."""

from __future__ import annotations

import numpy as np
import pytest
from moving_pictures import texture, window

from mixfield.apps.matching import Flow, Keypoints


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("matcher", [Flow(), Keypoints()])
def test_matches_follow_the_motion(matcher, rng):
    picture = texture(rng, (120, 160))
    first, second = window(picture, 0, (120, 160)), window(picture, 3, (120, 160))
    found = matcher.match(first, second)
    move = np.stack(np.divmod(found.second, 160)) - np.stack(np.divmod(found.first, 160))
    assert found.share > 0.1
    assert np.median(move, axis=1).tolist() == [-3, -3]
    assert (np.abs(move + 3).max(0) <= 1).mean() > 0.95


@pytest.mark.parametrize("matcher", [Flow(), Keypoints()])
def test_nothing_to_match(matcher):
    found = matcher.match(np.zeros((40, 50), np.uint8), np.full((40, 50), 255, np.uint8))
    assert len(found.first) == len(found.second)


@pytest.mark.parametrize("shape", [(1, 1), (1, 30), (30, 1), (5, 11), (8, 10), (12, 3), (15, 15), (17, 40)])
def test_flow_of_small_images(shape):
    """OpenCV takes none below 12 pixels."""
    picture = np.random.default_rng(0).integers(0, 255, (*shape, 3)).astype(np.uint8)
    found = Flow(step=1).match(picture, picture)
    assert found.share == 1.0
    assert found.first.tolist() == found.second.tolist() == list(range(shape[0] * shape[1]))


@pytest.mark.parametrize(("option", "value"), [("step", 4), ("max_error", 0.01), ("max_change", 2.0)])
def test_every_option_of_the_flow_matters(option, value, rng):
    picture = texture(rng, (60, 80))
    first, darker = window(picture, 0, (60, 80)), np.uint8(0.95 * window(picture, 3, (60, 80)))
    fewer, matches = Flow(**{option: value}).match(first, darker), Flow().match(first, darker)
    assert len(fewer.first) < 0.9 * len(matches.first)


@pytest.mark.parametrize(("option", "value"), [("count", 20), ("ratio", 0.3)])
def test_every_option_of_keypoints_matters(option, value, rng):
    picture = texture(rng, (120, 160))
    first, second = window(picture, 0, (120, 160)), window(picture, 3, (120, 160))
    assert len(Keypoints(**{option: value}).match(first, second).first) < len(Keypoints().match(first, second).first)
