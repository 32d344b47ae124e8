"""Regions, their borders and which look alike, against slow loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixfield.interactive.region_graph import (
    adjacent,
    cut_by,
    pixel_features,
    refined_at,
    region_graph,
    region_labels,
    region_means,
    similar_pairs,
    slic_regions,
)

#  0 0 1 1
#  0 2 2 1
REGIONS = np.array([[0, 0, 1, 1], [0, 2, 2, 1]])


def test_borders_of_the_drawing():
    edges, borders = adjacent(REGIONS)
    assert edges.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert borders.tolist() == [1, 2, 2]


@given(st.integers(0, 10_000))
def test_borders_against_a_loop(seed):
    rng = np.random.default_rng(seed)
    regions = rng.integers(0, 4, (5, 6))
    counts: dict[tuple[int, int], int] = {}
    for row in range(5):
        for column in range(6):
            for other in ((row + 1, column), (row, column + 1)):
                if other[0] < 5 and other[1] < 6 and regions[other] != regions[row, column]:
                    pair = tuple(sorted((int(regions[other]), int(regions[row, column]))))
                    counts[pair] = counts.get(pair, 0) + 1
    edges, borders = adjacent(regions)
    assert dict(zip(map(tuple, edges.tolist()), borders.tolist(), strict=True)) == counts


def test_a_volume_against_a_loop():
    regions = np.random.default_rng(0).integers(0, 5, (3, 4, 5))
    counts: dict[tuple[int, int], int] = {}
    at_border = np.zeros(5)
    for place in np.ndindex(regions.shape):
        for axis, size in enumerate(regions.shape):
            at_border[regions[place]] += (place[axis] == 0) + (place[axis] == size - 1)
            other = tuple(k + (a == axis) for a, k in enumerate(place))
            if other[axis] < size and regions[other] != regions[place]:
                pair = tuple(sorted((int(regions[other]), int(regions[place]))))
                counts[pair] = counts.get(pair, 0) + 1
    edges, borders = adjacent(regions)
    assert dict(zip(map(tuple, edges.tolist()), borders.tolist(), strict=True)) == counts
    graph = region_graph(regions, np.zeros((3, 4, 5, 6), np.float32))
    np.testing.assert_array_equal(graph.image_border[1], at_border)


def test_means():
    values = np.arange(8.0).reshape(2, 4, 1)
    np.testing.assert_allclose(region_means(REGIONS, values, 4)[:, 0], [5 / 3, 12 / 3, 11 / 2, 0])


@given(st.integers(0, 10_000))
def test_cut_regions_have_one_label_each_and_nest(seed):
    rng = np.random.default_rng(seed)
    regions = np.repeat(np.repeat(np.arange(6).reshape(2, 3), 4, 0), 4, 1)
    strokes = np.where(rng.random(regions.shape) < 0.2, rng.integers(0, 3, regions.shape), -1)
    divided = cut_by(regions, strokes)
    assert np.unique(divided).tolist() == list(range(divided.max() + 1))
    for region in range(divided.max() + 1):
        inside = divided == region
        assert len(np.unique(regions[inside])) == 1
        assert len(np.unique(strokes[inside & (strokes >= 0)])) <= 1
    labels = region_labels(divided, strokes, divided.max() + 1)
    np.testing.assert_array_equal(labels[divided][strokes >= 0], strokes[strokes >= 0])


def test_regions_that_strokes_do_not_divide_stay():
    strokes = np.array([[1, -1, -1, 0], [-1, -1, -1, -1]])
    np.testing.assert_array_equal(cut_by(REGIONS, strokes), REGIONS)


@pytest.mark.parametrize("seed", range(3))
def test_regions_are_finer_where_labels_change_and_nowhere_else(seed):
    rng = np.random.default_rng(seed)
    regions, finer = np.repeat(np.arange(6), 40).reshape(12, 20), np.arange(240).reshape(12, 20) // 4
    labels = (rng.random((12, 20)) < 0.02).astype(np.int64)
    found = refined_at(regions, finer, labels)
    assert np.unique(found).tolist() == list(range(found.max() + 1))
    for region in range(6):
        inside = regions == region
        parts = finer if len(np.unique(labels[inside])) > 1 else regions
        pairs = np.unique(np.stack([found[inside], parts[inside]], 1), axis=0)
        assert len(pairs) == len(np.unique(parts[inside])) == len(np.unique(found[inside]))


def test_similar_pairs_are_the_nearest():
    pairs = similar_pairs(np.array([[0.0], [1.0], [10.0]]))
    assert pairs.tolist() == [[0, 1], [0, 2], [1, 0], [1, 2], [2, 1], [2, 0]]
    assert similar_pairs(np.zeros((1, 2))).shape == (0, 2)


def test_graph_of_an_image():
    pytest.importorskip("skimage")
    image = np.zeros((8, 12, 3), np.float32)
    image[:, 6:] = (255, 0, 0)
    graph = region_graph(np.repeat([[0] * 3 + [1] * 3 + [2] * 6], 8, 0), pixel_features(image))
    assert graph.n == 3
    assert graph.sizes.tolist() == [24, 24, 48]
    assert graph.contrasts[1] > graph.contrasts[0]
    at, lengths = graph.image_border
    assert at.tolist() == [0, 1, 2]
    assert lengths.sum() == 2 * (8 + 12)
    assert graph.dissimilarities.mean() == pytest.approx(1.0)


@pytest.mark.parametrize("shape", [(9, 7, 1), (9, 7, 3), (1, 1, 3), (2, 300, 5), (4, 9, 7, 1), (1, 3, 3, 3)])
def test_superpixels_of_any_image_are_numbered_without_gaps(shape):
    pytest.importorskip("skimage")
    picture = np.random.default_rng(0).uniform(0, 255, shape).astype(np.float32)
    found = slic_regions(picture)
    assert found.shape == shape[:-1]
    np.testing.assert_array_equal(np.unique(found), np.arange(found.max() + 1))
    assert np.isfinite(pixel_features(picture)).all()


def test_majority_and_regions_of_a_place():
    graph = region_graph(REGIONS, np.zeros((2, 4, 6), np.float32))
    labels = np.array([[7, 7, 2, 2], [2, 7, 7, 7]])
    assert graph.majority(labels, np.array([2, 7])).tolist() == [1, 0, 1]
    assert graph.regions_in(labels == 2).tolist() == [0, 1]
