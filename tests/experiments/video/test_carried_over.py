"""Cuts of a frame where the frame before had an alternative."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf
from experiments.video.carried_over import NO_LABEL, CarriedOver
from mixfield.apps import segmentation_energy
from mixfield.apps.matching import Matches
from mixfield.energy import active_labels
from mixfield.errors import MixfieldError

SHAPE = (24, 32)
ALL = np.arange(4)


def frame(left, seen=0.4, n_labels=4):
    """A box of 80 pixels from column ``left`` on, in which only the third label has a probability below mean field."""
    probs = np.full((*SHAPE, n_labels), 1e-6)
    probs[..., 0] = 1.0
    probs[8:16, left : left + 10] = 1e-6
    probs[8:16, left : left + 10, 0], probs[8:16, left : left + 10, 2] = 1.0 - seen, seen
    image = np.full(SHAPE, 60, np.uint8)
    image[8:16, left : left + 10] = 160
    return segmentation_energy(image, probs, kernels=mf.Kernels(sxy=5, srgb=10))


def moved(by):
    """Matches of every second pixel, ``by`` pixels to the right."""
    y, x = (axis.ravel() for axis in np.mgrid[0:24:2, 0 : 32 - by : 2])
    return Matches(y * 32 + x, y * 32 + x + by, 1.0)


def box(left):
    inside = np.zeros(SHAPE, bool)
    inside[8:16, left : left + 10] = True
    return inside


def alternative(posterior):
    return next(k for k in range(len(posterior.modes)) if k != posterior.root_mode)


@pytest.fixture(scope="module")
def before():
    return mf.infer(frame(6), 2)


def test_an_alternative_is_carried_to_its_matches(before):
    carried = CarriedOver.between(before, alternative(before), moved(8), ALL)
    assert ((carried.labels == 2) == box(14)).mean() > 0.95
    assert set(np.unique(carried.labels)) == {NO_LABEL, 2}


def test_without_motion_the_labels_stay(before):
    still = Matches(np.arange(768), np.arange(768), 1.0)
    carried = CarriedOver.between(before, alternative(before), still, ALL, spacing=1)
    labels = before.labelings()[alternative(before)]
    np.testing.assert_array_equal(carried.labels, np.where(labels == 2, 2, NO_LABEL))


def test_mean_field_carries_nothing(before):
    assert (CarriedOver.between(before, before.root_mode, moved(8), ALL).labels == NO_LABEL).all()


def test_the_next_frame_is_cut_there_although_labels_are_left_out(before):
    """The next frame has less of label 2; its field has two of four labels, under other numbers."""
    after = frame(14, seen=0.2)
    active = active_labels(after)[0]
    assert active.tolist() == [0, 2]
    carried = CarriedOver.between(before, alternative(before), moved(8), active)
    found = mf.infer(after, 2, criterion=carried)
    other = found.labelings()[alternative(found)]
    assert (other[box(14)] == 2).mean() > 0.9
    assert (other[~box(14)] == 0).mean() > 0.9


def test_groups_have_a_least_size(before):
    active = active_labels(frame(14))[0]
    carried = CarriedOver.between(before, alternative(before), moved(8), active)
    with pytest.warns(mf.errors.FewerModesWarning):
        found = mf.infer(frame(14), 2, criterion=CarriedOver(carried.labels, active, smallest=0.5))
    assert len(found.modes) == 1


def test_the_mode_must_exist(before):
    with pytest.raises(MixfieldError, match="mode must lie in 0 to 1, got 2"):
        CarriedOver.between(before, 2, moved(8), ALL)
