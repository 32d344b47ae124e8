"""WILDTRACK: positions, boxes and silhouettes belong together."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.people.wildtrack import AREA, Wildtrack
from mixfield.errors import MixfieldError


@pytest.fixture(scope="module")
def clean(data):
    return Wildtrack(data / "people" / "wildtrack")


def test_people_stand_in_the_area(clean):
    (feet,) = clean.truth([0]).values()
    assert len(feet) > 10
    assert (feet >= AREA[:2]).all()
    assert (feet <= AREA[2:]).all()


def test_silhouettes_are_where_people_stand(clean):
    """The rectangle of the cell of a person is mostly foreground, in every view that sees it."""
    scene, masks = clean.scene, clean.masks(0)
    (feet,) = clean.truth([0]).values()
    nearest = [np.linalg.norm(scene.ground.centres().reshape(-1, 2) - foot, axis=-1).argmin() for foot in feet]
    shares = []
    for view, mask in zip(scene.reduced_views, masks, strict=True):
        for left, top, right, bottom in view.boxes[nearest]:
            shares += [mask[top:bottom, left:right].mean()] if right > left else []
    assert np.median(shares) > 0.8


def test_noise_differs_by_frame_and_not_by_run(clean):
    noisy = Wildtrack(clean.folder, noisy=True)
    first, again = noisy.masks(0), noisy.masks(0)
    np.testing.assert_array_equal(first[0], again[0])
    assert (first[0] != clean.masks(0)[0]).any()


def test_noise_is_counted_in_pixels(clean):
    """Silhouettes are shifted four times less in pixels of a quarter of the side; nothing else changes."""
    noisy, exact = (Wildtrack(clean.folder, ("CVLab1",), noisy=one, pixel=1).masks(0)[0] for one in (True, False))
    assert np.abs(exact - clean.masks(0)[0]).mean() < 0.01
    reduced = Wildtrack(clean.folder, ("CVLab1",), noisy=True).masks(0)[0]
    assert 0 < np.abs(noisy - exact).mean() < np.abs(reduced - exact).mean()


def test_region_of_one_camera(clean):
    one = Wildtrack(clean.folder, ("CVLab1",), region=("CVLab1",))
    assert 0 < len(one.truth([0])[0]) < len(clean.truth([0])[0])


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(MixfieldError, match="set MIXFIELD_DATA"):
        Wildtrack(tmp_path / "nowhere")
