"""Colours of labels: a changed region looks like its old or its new labels."""

from __future__ import annotations

import numpy as np
import pytest

from mixfield.apps.appearance import (
    BINS,
    MOST,
    UNSEEN,
    Change,
    ColourModel,
    colour_bins,
    common_colours,
    label_histograms,
)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def naive_likeness(histograms, bins, root, labels):
    """The definition, pixel by pixel."""
    above, below = [], []
    for colour, old, new in zip(bins, root, labels, strict=True):
        if old == new or not (histograms[old].any() and histograms[new].any()):
            continue
        e = UNSEEN / histograms.shape[1]
        p = (histograms[new] + e) / (histograms[new] + histograms[old] + 2 * e)
        of_new, of_old = (histograms[new] * p).sum(), (histograms[old] * p).sum()
        above.append(p[colour] - (of_new + of_old) / 2)
        below.append(of_new - of_old)
    return np.mean(above) / np.mean(below)


def test_likeness_is_its_definition(rng):
    histograms = rng.dirichlet(np.full(20, 0.2), 4)
    histograms[3] = 0  # a label that was not seen
    bins, root, labels = rng.integers(20, size=300), rng.integers(4, size=300), rng.integers(4, size=300)
    found = ColourModel(histograms).likeness(Change.of(bins, root, labels))
    assert found == pytest.approx(naive_likeness(histograms, bins, root, labels))


def test_pixels_of_a_label_look_like_it(rng):
    histograms = rng.dirichlet(np.full(50, 0.3), 2)
    model = ColourModel(histograms)
    for label, expected in ((0, -0.5), (1, 0.5)):
        bins = rng.choice(50, 20_000, p=histograms[label])
        change = Change.of(bins, np.zeros(len(bins), int), np.ones(len(bins), int))
        assert model.likeness(change) == pytest.approx(expected, abs=0.03)


def test_unseen_labels_do_not_look_like_anything():
    histograms = np.zeros((2, 10))
    histograms[0, 3] = 1
    change = Change.of(np.full(5, 3), np.zeros(5, int), np.ones(5, int))
    assert ColourModel(histograms).likeness(change) == -0.5
    nothing = Change.of(np.full(5, 3), np.zeros(5, int), np.zeros(5, int))
    assert ColourModel(np.eye(2, 10)).likeness(nothing) == -0.5


def test_likeness_is_bounded():
    histograms = np.full((2, 1000), 1e-3)  # the labels hardly differ, but for a rare colour
    histograms[:, 0] = 0, 0.02
    change = Change.of(np.zeros(9, int), np.zeros(9, int), np.ones(9, int))
    assert ColourModel(histograms).likeness(change) == MOST
    opposite = Change.of(np.zeros(9, int), np.ones(9, int), np.zeros(9, int))
    assert ColourModel(histograms).likeness(opposite) == -MOST


def test_changes_count_pixels(rng):
    bins, root, labels = rng.integers(6, size=200), rng.integers(3, size=200), rng.integers(3, size=200)
    change = Change.of(bins, root, labels)
    assert change.counts.sum() == (root != labels).sum()
    for old, new, colour, count in zip(change.old, change.new, change.bins, change.counts, strict=True):
        assert count == ((root == old) & (labels == new) & (bins == colour)).sum()


def test_histograms_of_labels_sum_to_one_unless_they_are_tiny(rng):
    bins, labels = rng.integers(4 * BINS // 8, BINS - 4, size=10_000), np.zeros(10_000, int)
    labels[:4000], labels[-2:] = 1, 3
    sums = label_histograms(bins, labels, 5, 1).sum(1)
    assert sums == pytest.approx([1, 1, 0, 0.2, 0], abs=1e-5)


def test_a_mean_of_frames_weighs_frames_the_same():
    sums = np.array([[1.0, 3.0], [0.0, 0.0]])
    assert ColourModel.of(sums).histograms.tolist() == [[0.25, 0.75], [0, 0]]


@pytest.mark.parametrize("shape", [(20, 30), (20, 30, 1), (20, 30, 3), (20, 30, 4)])
def test_bins_are_of_colours(shape, rng):
    image = rng.integers(0, 255, shape).astype(np.uint8)
    bins = colour_bins(image)
    assert bins.shape == (600,)
    assert 0 <= bins.min() <= bins.max() < BINS ** min(3, image[..., None].shape[-1] if image.ndim == 2 else shape[2])
    assert (colour_bins(np.full(shape, 255, np.uint8)) == bins.max()).all() or bins.max() < BINS**3


def test_common_colours(rng):
    one, two = rng.integers(0, 5, 1000), rng.integers(10, 15, 1000)
    assert common_colours(one, one) == pytest.approx(1)
    assert common_colours(one, two) == 0
    assert common_colours(one, np.concatenate([one[:500], two[:500]])) == pytest.approx(0.5, abs=0.05)
