"""Masks are compared whatever their place and size."""

from __future__ import annotations

import numpy as np
import pytest

from mixfield.apps.alignment import AlignedMasks


def disc(radius, centre=(60, 80), shape=(120, 160)):
    rows, columns = np.mgrid[: shape[0], : shape[1]]
    return ((rows - centre[0]) ** 2 + (columns - centre[1]) ** 2 < radius**2).astype(int)


def box(height, width, corner=(20, 30), shape=(120, 160)):
    labels = np.zeros(shape, int)
    labels[corner[0] : corner[0] + height, corner[1] : corner[1] + width] = 1
    return labels


def overlap(one, other):
    n_labels = max(one.max(), other.max()) + 1
    masks = [AlignedMasks.of(labels[None], n_labels) for labels in (one, other)]
    return float(masks[0].overlap(masks[1])[0, 0])


@pytest.mark.parametrize(("radius", "centre"), [(20, (60, 80)), (20, (30, 120)), (10, (30, 40)), (40, (60, 80))])
def test_place_and_size_do_not_matter(radius, centre):
    assert overlap(disc(20), disc(radius, centre)) > 0.93


def test_shape_matters():
    square, flat, thin = box(40, 40), box(20, 80), box(10, 100)
    assert overlap(square, square) == 1
    # the intersection of a square and a rectangle of sides 1/r, r of one area is 1/r, the union 2 - 1/r
    assert overlap(square, flat) == pytest.approx(0.5 / 1.5, abs=0.03)
    assert overlap(square, thin) < overlap(flat, thin) < 0.7


def test_nothing_overlaps_with_nothing():
    empty = np.zeros((120, 160), int)
    masks = [AlignedMasks.of(np.stack([disc(20), empty]), 2) for _ in range(2)]
    assert masks[0].overlap(masks[1]).tolist() == [[1, 0], [0, 0]]


def test_labels_count_by_their_area_without_the_background():
    one, two = disc(20) + 2 * disc(10, (20, 20)), box(40, 40) + 2 * disc(10, (20, 120))
    areas = [(one == 1).sum() + (two == 1).sum(), (one == 2).sum() + (two == 2).sum()]
    parts = [overlap((one == 1).astype(int), (two == 1).astype(int)), overlap(one * 0 + (one == 2), 0 + (two == 2))]
    assert overlap(one, two) == pytest.approx(np.average(parts, weights=areas), abs=1e-6)


def test_all_pairs_of_labelings():
    first, second = np.stack([disc(20), box(40, 40), box(20, 80)]), np.stack([disc(10), box(10, 100)])
    found = AlignedMasks.of(first, 2).overlap(AlignedMasks.of(second, 2))
    assert found == pytest.approx(np.array([[overlap(a, b) for b in second] for a in first]))
