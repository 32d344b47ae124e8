"""Alternatives as layers."""

from __future__ import annotations

import numpy as np
import pytest
from napari_layers import flat, solid

from mixfield.napari.result_layers import KEY, results_of, show_alternatives

pytestmark = pytest.mark.filterwarnings("default")


def maps(strokes, count):
    return np.stack([np.full(strokes.data.shape, k) for k in range(count)])


def test_layers_have_weights_and_the_place_of_the_strokes():
    viewer, image, strokes = solid()
    shown = show_alternatives(viewer, strokes, maps(strokes, 2), np.array([0.75, 0.25]))
    assert [layer.metadata[KEY] for layer in shown] == [
        {"strokes": "strokes", "alternative": 1, "weight": 0.75},
        {"strokes": "strokes", "alternative": 2, "weight": 0.25},
    ]
    assert "alternative 1, weight 75.0 %" in shown[0].name
    assert [layer.visible for layer in shown] == [True, False]
    assert list(viewer.layers) == [image, *shown, strokes]
    assert viewer.layers.selection.active is strokes
    for k, layer in enumerate(shown):
        np.testing.assert_array_equal(layer.data, np.full((4, 128, 128), k))
        np.testing.assert_array_equal(layer.scale, (3, 1, 1))


def test_new_alternatives_replace_the_old_ones():
    viewer, _, strokes = flat()
    first = show_alternatives(viewer, strokes, maps(strokes, 3), np.array([0.5, 0.3, 0.2]))
    first[1].visible = True  # what a person has changed stays
    second = show_alternatives(viewer, strokes, 5 + maps(strokes, 2), np.array([0.9, 0.1]))
    assert second == first[:2] == results_of(viewer, strokes)
    assert second[1].visible
    assert second[0].data[0, 0] == 5
    assert second[0].metadata[KEY]["weight"] == 0.9
    assert "90.0 %" in second[0].name


def test_other_strokes_have_layers_of_their_own():
    viewer, _, strokes = flat()
    others = viewer.add_labels(strokes.data.copy(), name="others")
    for layer in (strokes, others):
        show_alternatives(viewer, layer, maps(layer, 1), np.array([1.0]))
    assert len(results_of(viewer, strokes)) == len(results_of(viewer, others)) == 1
    assert len(viewer.layers) == 5
