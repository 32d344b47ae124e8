"""fit_views: which part of a scene is fitted, and what it refuses."""

from __future__ import annotations

from dataclasses import replace

import pytest

import mixfield as mf
from mixfield.apps import fit_views
from mixfield.errors import MixfieldError


@pytest.fixture(scope="module")
def walk():
    return mf.datasets.walking_people(3, 2, 6, setting="easy", rng=1)


def test_the_local_form_fits_boxes_and_the_others_variances(walk):
    boxes = fit_views(replace(walk.scene, form="local"), walk.masks)
    assert boxes.variance is None
    assert (boxes.views[0].boxes != walk.scene.views[0].boxes).any()
    variances = fit_views(walk.scene, walk.masks)
    assert variances.views is walk.scene.views
    assert len(variances.variance) == 2


def test_frames_without_masks_of_all_views_are_refused(walk):
    with pytest.raises(MixfieldError, match="at least one frame"):
        fit_views(walk.scene, [])
    with pytest.raises(MixfieldError, match=r"one mask per view \(2\) each, got 1"):
        fit_views(walk.scene, [walk.masks[0][:1]])
