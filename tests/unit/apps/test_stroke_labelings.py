"""Label maps from strokes on images and volumes."""

from __future__ import annotations

import numpy as np
import pytest
from annotating import doubtful_click, photograph

import mixfield as mf
from mixfield.apps import stroke_labelings
from mixfield.errors import MixfieldError
from mixfield.interactive import canvas

pytest.importorskip("skimage")


def ellipsoid(shape=(16, 40, 48)):
    """A noisy volume with an ellipsoid, its truth, and a stroke on the object and one beside it in the middle plane."""
    axes = np.ogrid[tuple(slice(size) for size in shape)]
    truth = sum(((at - size / 2) / (0.3 * size)) ** 2 for at, size in zip(axes, shape, strict=True)) < 1
    volume = (60 + 90 * truth + np.random.default_rng(0).normal(0, 15, shape)).clip(0, 255).astype(np.uint8)
    strokes = np.full(shape, -1)
    strokes[8, 18:22, 22:26], strokes[8, 2, 4:44] = 1, 0
    return volume, truth, strokes


def iou(labels, truth):
    return ((labels == 1) & truth).sum() / ((labels == 1) | truth).sum()


@pytest.mark.parametrize("channels", [None, 3])
def test_a_volume_from_strokes_in_one_plane(channels):
    volume, truth, strokes = ellipsoid()
    given = volume if channels is None else np.repeat(volume[..., None], channels, -1)
    labelings, weights = stroke_labelings(given, strokes)
    assert labelings.shape == (len(weights), *volume.shape)
    assert weights.sum() == pytest.approx(1)
    assert iou(labelings[0], truth) > 0.95
    for labels in labelings:
        np.testing.assert_array_equal(labels[strokes >= 0], strokes[strokes >= 0])
    assert len({labels.tobytes() for labels in labelings}) == len(labelings)


def test_large_volumes_are_segmented_on_reduced_ones(monkeypatch):
    monkeypatch.setitem(canvas.LARGEST, 3, 5000)
    volume, truth, strokes = ellipsoid()
    labelings, _ = stroke_labelings(volume, strokes, 1)
    assert canvas.Canvas.of(volume, n_axes=3).step == 2
    assert iou(labelings[0], truth) > 0.9


def test_spacing_changes_the_supervoxels():
    volume, truth, strokes = ellipsoid()
    thin = np.ascontiguousarray(volume[::4])
    found = stroke_labelings(thin, strokes[::4], 1, spacing=(4, 1, 1))[0][0]
    assert iou(found, truth[::4]) > 0.9
    regions = [canvas.Canvas.of(thin, n_axes=3, spacing=spacing).regions for spacing in (None, (4, 1, 1))]
    assert not np.array_equal(*regions)


def test_an_image_has_the_maps_of_an_annotation():
    annotation = mf.Annotation(photograph(), ("background", "astronaut"))
    annotation.add_stroke([doubtful_click()] * 2, 1)  # a line, which is no correction of what was shown
    labelings, weights = stroke_labelings(photograph(), annotation._state.strokes)
    found = annotation.suggest()
    assert weights.tolist() == pytest.approx([one.weight for one in found])
    for labels, one in zip(labelings, found, strict=True):
        np.testing.assert_array_equal(labels, one.labels)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"strokes": np.full((16, 40, 48), -1)}, "some pixel a label"),
        ({"strokes": np.zeros((40, 48), int)}, "strokes must have shape"),
        ({"strokes": np.zeros((16, 40, 40), int)}, "strokes must have shape"),
        ({"strokes": np.zeros(4, int)}, "strokes must have shape"),
        ({"spacing": (1, 1)}, "spacing must be 3 positive numbers"),
        ({"spacing": (1, 0, 1)}, "spacing must be 3 positive numbers"),
        ({"n_labels": 1}, "n_labels"),
        ({"n_modes": 0}, "n_modes"),
        ({"strokes": np.full((16, 40, 48), 5), "n_labels": 3}, "below n_labels = 3, got 5"),
    ],
)
def test_wrong_input(options, match):
    volume, _, strokes = ellipsoid()
    with pytest.raises(MixfieldError, match=match):
        stroke_labelings(**({"image": volume, "strokes": strokes} | options))
