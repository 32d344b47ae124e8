"""Straight edges of changed regions, against loops over rows and columns."""

from __future__ import annotations

import numpy as np
import pytest

from mixfield._pictures import intensities
from mixfield.apps.straight_edges import ImageEdges, changes_follow, flat_pixels, has_straight_edge

LENGTH = 12
ALL = np.ones((40, 50), bool)


def by_loops(changed, image, length):
    """The definition, pixel by pixel."""
    grey = intensities(image).mean(-1).astype(np.float64)
    size = np.hypot(*np.gradient(grey))
    flat = size < np.median(size)
    height, width = changed.shape
    for dy, dx in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        lines = [[(y, x) for x in range(width)] for y in range(height)]
        if dx:
            lines = [[(y, x) for y in range(height)] for x in range(width)]
        for line in lines:
            run = 0
            for y, x in line:
                inside = 0 <= y + dy < height and 0 <= x + dx < width
                edge = changed[y, x] and flat[y, x] and inside and not changed[y + dy, x + dx]
                run = run + 1 if edge else 0
                if run >= length:
                    return True
    return False


def box(rows, columns, shape=(40, 50)):
    region = np.zeros(shape, bool)
    region[rows, columns] = True
    return region


@pytest.mark.parametrize(
    ("region", "expected"),
    [
        (box(slice(10, 15), slice(10, 10 + LENGTH)), True),
        (box(slice(10, 15), slice(10, 9 + LENGTH)), False),
        (box(slice(10, 10 + LENGTH), slice(10, 15)), True),
        (box(slice(0, 40), slice(0, 50)), False),  # the border of the image
        (np.tri(40, 50, dtype=bool), False),  # a diagonal
    ],
)
def test_long_straight_boundaries_where_the_image_is_flat(region, expected):
    assert has_straight_edge(region, ALL, LENGTH) is expected


def test_an_edge_of_the_image_does_not_count():
    image = np.random.default_rng(0).integers(0, 10, (40, 50), dtype=np.uint8)
    image[20:] += 200
    region = box(slice(20, 40), slice(0, 50))
    assert has_straight_edge(region, ALL, LENGTH)
    assert not has_straight_edge(region, flat_pixels(intensities(image)), LENGTH)


def test_the_gradient_of_half_of_the_pixels_is_below_the_median():
    rng = np.random.default_rng(2)
    for shape in ((5, 6), (1, 6), (5, 1), (1, 1)):
        count = shape[0] * shape[1]
        assert flat_pixels(rng.uniform(0, 255, (*shape, 3))).sum() in (count // 2, count // 2 - 1)
        assert not flat_pixels(np.full((*shape, 3), 9.0)).any()  # nothing is known of a uniform image


def test_it_agrees_with_loops_on_random_regions():
    rng = np.random.default_rng(1)
    found = []
    for _ in range(60):
        image = rng.integers(0, 256, (30, 36), dtype=np.uint8)
        image[:, rng.integers(4, 30) :] //= 16
        top, left, height, width = rng.integers(0, 18, 4)
        region = box(slice(top, top + height), slice(left, left + width), (30, 36)) | (rng.random((30, 36)) < 0.02)
        length = int(rng.integers(4, 14))
        found.append(has_straight_edge(region, flat_pixels(intensities(image)), length))
        assert found[-1] == by_loops(region, image, length)
    assert 0 < sum(found) < len(found)


@pytest.mark.parametrize(("size", "length"), [(100, 12), (216, 12), (360, 20)])
def test_the_length_grows_with_the_image(size, length):
    image = np.random.default_rng(3).uniform(0, 255, (size, 60, 3))
    image[:40] /= 100
    edges = ImageEdges(image)
    assert edges.follow(box(slice(10, 15), slice(10, 9 + length), (size, 60)))
    assert not edges.follow(box(slice(10, 15), slice(10, 10 + length), (size, 60)))


def test_a_refined_region_follows_the_image():
    image = np.random.default_rng(4).normal(80, 4, (40, 50, 3))
    image[:, 25:] += 60
    moved = ImageEdges(image).refined(box(slice(0, 40), slice(0, 23)))
    assert (moved != box(slice(0, 40), slice(0, 25))).sum() < 10  # of eighty pixels


def test_changes_are_those_against_the_root():
    """A box that the image does not have follows it neither as a change nor as the root of a change back."""
    picture = np.random.default_rng(0).uniform(0, np.where(np.arange(40) < 20, 1, 250)[:, None, None], (40, 50, 1))
    plain, boxed = np.zeros((40, 50), int), box(slice(3, 16), slice(5, 25)).astype(int)
    labelings = np.stack([plain, boxed, plain])
    assert changes_follow(labelings, 0, picture).tolist() == [True, False, True]
    assert changes_follow(labelings, 1, picture).tolist() == [False, True, False]
    assert changes_follow(labelings, 0, picture[::-1]).tolist() == [True, True, True]  # contrast where the box is
    assert changes_follow(labelings, 0, None).tolist() == [True, True, True]
