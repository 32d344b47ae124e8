"""Cuts of a frame where the frame before had an alternative."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf
from mixfield.apps import segmentation_energy
from mixfield.apps.carrying import CarriedOver
from mixfield.apps.matching import Matches
from mixfield.errors import MixfieldError

SHAPE = (24, 32)


def frame(left, seen=0.4, n_labels=4):
    """A box of 80 pixels, ``left`` of which are beside it; the third label is nearly seen there, and no other."""
    probs = np.full((*SHAPE, n_labels), 1e-6)
    probs[..., 0] = 1.0
    probs[8:16, left : left + 10] = 1e-6
    probs[8:16, left : left + 10, 0], probs[8:16, left : left + 10, 2] = 1.0 - seen, seen
    image = np.full(SHAPE, 60, np.uint8)
    image[8:16, left : left + 10] = 160
    return segmentation_energy(image, probs, kernels=mf.Kernels(sxy=5, srgb=10))


def moved(by):
    """Every second pixel goes ``by`` pixels to the right."""
    y, x = (axis.ravel() for axis in np.mgrid[0:24:2, 0 : 32 - by : 2])
    return Matches(y * 32 + x, y * 32 + x + by, 1.0)


def box(left):
    inside = np.zeros(SHAPE, bool)
    inside[8:16, left : left + 10] = True
    return inside


def alternative(posterior):
    return next(k for k in range(len(posterior.modes)) if k != posterior.root_mode)


def test_an_alternative_is_carried_to_where_its_points_are():
    before = mf.infer(frame(6), 2)
    carried = CarriedOver.between(before, alternative(before), moved(8))
    assert ((carried.labels == 2) == box(14)).mean() > 0.95
    assert set(np.unique(carried.labels)) == {-1, 2}


def test_mean_field_carries_nothing():
    before = mf.infer(frame(6), 2)
    assert (CarriedOver.between(before, before.root_mode, moved(8)).labels == -1).all()


def test_the_next_frame_is_cut_there_whatever_labels_are_left_out():
    """The next frame sees less of label 2; its field keeps two of four labels, under other numbers."""
    before = mf.infer(frame(6), 2)
    after = frame(14, seen=0.2)
    carried = CarriedOver.between(before, alternative(before), moved(8))
    found = mf.infer(after, 2, criterion=carried)
    other = found.labelings()[alternative(found)]
    assert (other[box(14)] == 2).mean() > 0.9
    assert (other[~box(14)] == 0).mean() > 0.9


def test_groups_have_a_least_size():
    before = mf.infer(frame(6), 2)
    carried = CarriedOver.between(before, alternative(before), moved(8))
    with pytest.warns(mf.errors.FewerModesWarning):
        assert len(mf.infer(frame(14), 2, criterion=CarriedOver(carried.labels, smallest=0.5)).modes) == 1


def test_the_mode_must_be_there():
    before = mf.infer(frame(6), 2)
    with pytest.raises(MixfieldError, match="mode must lie in 0 to 1, got 2"):
        CarriedOver.between(before, 2, moved(8))
