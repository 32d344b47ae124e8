"""Label maps over an image."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from page_examples import random_posterior

import mixfield as mf
from mixfield.mixture.calibration import Blend, Calibration
from mixfield.reports.doubt import ENTROPY, Doubt, doubt_of
from mixfield.reports.doubt import GAP as GAP_OF_ENTROPY
from mixfield.reports.palette import MODES, RAMP, label_colors
from mixfield.reports.panels import GAP, SIDE
from mixfield.reports.segmentation_figure import displayed, segmentation_figure, side_by_side


def test_images_of_any_kind_are_shown_in_three_channels():
    grey = np.array([[0, 100, 255]], np.uint8)
    np.testing.assert_array_equal(displayed(grey), np.repeat(grey[..., None], 3, -1))
    two = np.stack([grey, grey[:, ::-1]], -1)
    assert displayed(two)[0, :, 0].tolist() == [128, 100, 128]  # the mean
    color = np.arange(18, dtype=np.uint8).reshape(2, 3, 3)
    np.testing.assert_array_equal(displayed(color), color)


def test_label_maps_are_mixed_with_the_image():
    image = np.full((3, 4), 100, np.uint8)
    flat = np.ones((3, 4), int)
    split = flat.copy()
    split[:, 2:] = 0
    both = side_by_side(image, flat, split)
    assert both.shape == (3, 8, 3)
    np.testing.assert_array_equal(both[0, 0], np.rint(0.4 * 100 + 0.6 * label_colors()[1]))
    np.testing.assert_array_equal(both[0, 4 + 3], np.full(3, 55))  # label 0 is black with an opacity of 0.45
    np.testing.assert_array_equal(both[:, 4 + 1], 255)  # the border


@pytest.mark.parametrize("modes", [1, 2])
def test_the_figure_has_a_panel_for_each_mode(modes):
    post, image = random_posterior((8, 8), modes=modes)
    figure = segmentation_figure(image, post, Doubt(np.zeros((8, 8)), ENTROPY))
    panels = 2 + modes + (modes > 1)
    assert figure.size[0] == GAP + min(4, panels) * (SIDE + GAP)
    colors = {color for _, color in figure.getcolors(1 << 20)}
    assert RAMP[0] in colors
    assert (MODES[0] in colors) == (modes > 1)


@pytest.mark.parametrize("shape", [(1, 1), (2, 90), (90, 2), (30, 40, 5), (400, 300, 3)])
@pytest.mark.filterwarnings("ignore::mixfield.errors.MixfieldWarning")
def test_figures_of_all_sizes(shape):
    image = np.random.default_rng(0).integers(0, 256, shape, np.uint8)
    posterior = mf.segment(image, np.full((*shape[:2], 2), 0.5), 1)
    figure = segmentation_figure(image, posterior, doubt_of(posterior))
    assert figure.mode == "RGB"
    assert min(figure.size) > 60
    assert max(figure.size) < 2000


def test_notes_say_how_many_pixels_differ(monkeypatch):
    shown = []
    monkeypatch.setattr("mixfield.reports.segmentation_figure.compose", lambda panels, **_: shown.extend(panels))
    modes = []
    for log_z, changed in ((-1.0, 0), (-3.5, 1)):
        q = np.zeros((2, 4, 2))
        q[..., 0] = 1.0
        q[0, :changed] = (0.0, 1.0)
        modes.append(mf.Mode(q, log_z))
    posterior = mf.MixturePosterior(tuple(modes))
    segmentation_figure(np.zeros((2, 4), np.uint8), posterior, Doubt(np.zeros((2, 4)), GAP_OF_ENTROPY))
    assert [panel.note for panel in shown] == [
        "4 x 2 pixels",
        "largest weight",
        "12.5 % of pixels differ",
        "from mode 1: 12.5 % of pixels",
        "dark 0 to bright 1.0 bits",
    ]
    evidence = np.tile([0.6, 0.4], (2, 4, 1))
    calibration = Calibration(np.array([0.7, 0.3]), np.array([np.nan, 0.38]), evidence, Blend(0.5, 0.5))
    shown.clear()
    segmentation_figure(np.zeros((2, 4), np.uint8), replace(posterior, calibration=calibration), None, names=["a", "b"])
    assert [(panel.title, panel.note) for panel in shown[1:3]] == [
        ("mode 1: 70.0 % best by IoU", "mean field"),
        ("mode 2: 30.0 % best by IoU", "a or b? 62 : 38, 12 %"),
    ]
    for sure, note in ((True, "no doubt"), (False, "mean field")):
        single = replace(calibration.take(np.array([0])), without_doubt=sure)
        one = replace(posterior, modes=posterior.modes[:1], calibration=single)
        shown.clear()
        segmentation_figure(np.zeros((2, 4), np.uint8), one, None)
        assert [(panel.title, panel.note) for panel in shown[1:]] == [("mode 1: 100.0 %", note)]
