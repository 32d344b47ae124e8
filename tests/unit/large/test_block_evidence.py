"""Evidence of a window: the same as of `mf.segment`, with pixels that have no data."""

from __future__ import annotations

import numpy as np
import pytest
from large_images import several_blocks

from mixfield._pictures import intensities
from mixfield.apps.evidence import probabilities
from mixfield.errors import MixfieldError
from mixfield.large.axes import matched
from mixfield.large.block_evidence import ScoreOptions, block_evidence, count_labels, read_evidence
from mixfield.large.sources import InMemory


def test_probabilities_and_intensities_are_those_of_segment():
    image, scores = several_blocks((12, 15))
    evidence = block_evidence(image, scores, None, ScoreOptions())
    np.testing.assert_array_equal(evidence.probs, probabilities(scores, (12, 15)))
    np.testing.assert_array_equal(evidence.picture, intensities(image))
    assert evidence.valid.all()


def test_the_scale_of_scores_does_not_matter():
    image, scores = several_blocks((12, 15))
    expected = block_evidence(image, scores, None, ScoreOptions()).probs
    np.testing.assert_allclose(block_evidence(image, 0.01 * scores, None, ScoreOptions()).probs, expected, rtol=1e-5)


def test_logits():
    image, scores = several_blocks((12, 15))
    evidence = block_evidence(image, np.log(scores), None, ScoreOptions(logits=True))
    np.testing.assert_allclose(evidence.probs / evidence.probs.sum(-1, keepdims=True), scores, rtol=1e-4)


def test_a_volume_keeps_its_axes():
    image, scores = several_blocks((4, 5, 6))
    evidence = block_evidence(image, scores, None, ScoreOptions())
    np.testing.assert_array_equal(evidence.probs, scores)
    assert evidence.picture.shape == (4, 5, 6, 3)


@pytest.mark.parametrize("hole", [np.nan, 0.0])
def test_pixels_without_scores_have_no_data(hole):
    image, scores = several_blocks((12, 15))
    scores[2, 3] = hole
    mask = np.ones((12, 15), bool)
    mask[5, 5] = False
    evidence = block_evidence(image, scores, mask, ScoreOptions())
    assert sorted(zip(*np.nonzero(~evidence.valid), strict=True)) == [(2, 3), (5, 5)]
    assert (evidence.probs[2, 3] == evidence.probs[2, 3, 0]).all()


def test_a_window_of_a_label_map_may_be_unknown():
    image, _ = several_blocks((12, 15))
    labels = np.full((12, 15), 255, np.uint8)
    options = ScoreOptions(n_labels=3)
    assert (
        block_evidence(image, labels, None, options).probs.tolist() == np.full((12, 15, 3), np.float32(1 / 3)).tolist()
    )
    labels[0, 0] = 2
    assert block_evidence(image, labels, None, options).probs[0, 0].argmax() == 2


def test_labels_are_counted_without_reading():
    image = InMemory(np.zeros((6, 8, 3), np.uint8))
    options = ScoreOptions()
    assert count_labels(matched(image, InMemory(np.zeros((6, 8, 5))))[1], options) == 5
    assert count_labels(matched(image, InMemory(np.zeros((6, 8))))[1], options) == 2
    label_map = matched(image, InMemory(np.zeros((6, 8), np.uint8)))[1]
    assert count_labels(label_map, ScoreOptions(n_labels=7)) == 7
    with pytest.raises(MixfieldError, match="n_labels must be given"):
        count_labels(label_map, options)


def test_windows_are_read_without_channels_too():
    image, scores = several_blocks((12, 15))
    grey, given = matched(InMemory(image[..., 0]), InMemory(scores))
    evidence = read_evidence(grey, given, (slice(2, 6), slice(3, 9)), ScoreOptions())
    assert evidence.picture.shape == (4, 6, 1)
    np.testing.assert_array_equal(evidence.probs, scores[2:6, 3:9])
