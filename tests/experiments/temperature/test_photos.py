"""The photo with network scores, and the synthetic one."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.temperature.photos import network_photo, synthetic_photo
from mixfield.io import read_label_map


def test_network_scores(data):
    folder = data / "segmentation" / "vocval7"
    if not folder.is_dir():
        pytest.skip(f"no scores in {folder}")
    photo = network_photo(folder)
    assert photo.image.shape == (*photo.foreground.shape, 3)
    truth = np.asarray(read_label_map(folder / "gt" / "2007_000033.png"))
    annotated = truth != 255
    assert np.mean((photo.foreground > 0.5)[annotated] == (truth > 0)[annotated]) > 0.9


def test_reduced_photo_keeps_the_means():
    photo = synthetic_photo()
    small = photo.reduced(40)
    assert small.foreground.shape == (40, 40)
    assert small.image.mean() == pytest.approx(photo.image.mean())
    assert small.foreground.mean() == pytest.approx(photo.foreground.mean())
