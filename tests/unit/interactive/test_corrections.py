"""How labelings explain a click on what was shown."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import distance_transform_edt, label

from mixfield.interactive.corrections import NO_DEPTH, NO_SHARE, Correction, correction_features

SHOWN = np.zeros((30, 40), np.int64)


def with_squares(*squares):
    labels = SHOWN.copy()
    for row, column, size in squares:
        labels[row : row + size, column : column + size] = 1
    return labels


def slow(truth, correction):
    """Components and distances on the whole map, label by label."""
    wrong, sizes = truth != correction.shown, []
    for value in np.unique(truth):
        regions, count = label(wrong & (truth == value), np.ones((3, 3)))
        sizes += [(regions == k).sum() for k in range(1, count + 1)]
        if value == correction.label:
            mine = regions == regions[correction.row, correction.column]
    depth = distance_transform_edt(np.pad(mine, 1))[1:-1, 1:-1]
    return np.log([mine.sum() / max(sizes), depth[correction.row, correction.column] / depth.max()])


def test_the_middle_of_the_only_error_explains_a_click_best():
    click = Correction(10, 10, 1, SHOWN)
    centred, beside, with_another = (
        with_squares((5, 5, 11)),
        with_squares((5, 9, 11)),
        with_squares((8, 8, 5), (5, 20, 15)),
    )
    found = correction_features(np.stack([centred, beside, with_another]), click)
    np.testing.assert_allclose(found[0], [0, 0])
    assert found[1, 0] == 0
    assert found[1, 1] < -1
    np.testing.assert_allclose(found[2], [np.log(25 / 225), 0])


def test_against_the_whole_map():
    rng = np.random.default_rng(0)
    for _ in range(50):
        truth = with_squares(*[(*rng.integers(0, 20, 2), rng.integers(3, 12)) for _ in range(3)])
        shown = with_squares(*[(*rng.integers(0, 20, 2), rng.integers(3, 12)) for _ in range(2)])
        wrong = np.argwhere(truth != shown)
        row, column = wrong[rng.integers(len(wrong))]
        click = Correction(int(row), int(column), int(truth[row, column]), shown)
        expected = np.maximum(slow(truth, click), [-np.inf, np.log(0.05)])
        np.testing.assert_allclose(correction_features(truth[None], click)[0], expected)


def test_a_click_where_nothing_would_change():
    found = correction_features(with_squares((0, 30, 5))[None], Correction(20, 5, 1, SHOWN))
    np.testing.assert_allclose(found, np.log([[NO_SHARE, NO_DEPTH]]))


def test_large_maps_are_reduced():
    large = np.kron(with_squares((5, 5, 12)), np.ones((20, 20), int))
    found = correction_features(large[None], Correction(220, 220, 1, np.zeros_like(large)))
    np.testing.assert_allclose(found, [[0, 0]], atol=0.1)
