"""Bounds on what clicks can reach."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from experiments.interactive.ceilings import best_iou, ideal_clicks
from experiments.interactive.photographs import VOID
from mixfield.interactive.canvas import Canvas


def test_an_ideal_click_corrects_one_region():
    truth = np.zeros((10, 30), np.int64)
    truth[2:8, 2:8] = truth[2:8, 12:18] = 1
    truth[3, 22:25] = 1  # 3 of 75 pixels may stay wrong
    shown = np.zeros_like(truth)
    assert ideal_clicks(shown, truth) == 2
    shown[9] = 1  # 30 pixels that are wrong
    assert ideal_clicks(shown, truth) == 3
    assert ideal_clicks(truth, truth) == 0
    truth[9] = VOID
    assert ideal_clicks(shown, truth) == 2


def test_the_best_labeling_is_limited_by_the_regions():
    pytest.importorskip("skimage")
    image = np.zeros((60, 80, 3), np.uint8)
    image[20:40, 30:60] = 200
    truth = (image[..., 0] > 0).astype(np.int64)
    canvas = Canvas.of(image)
    assert best_iou(canvas, truth) > 0.99
    halves = np.repeat([np.arange(80) // 40], 60, 0)
    assert best_iou(replace(canvas, regions=halves), truth) < 0.5
