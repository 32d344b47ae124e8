"""Foreground masks from a learned background."""

from __future__ import annotations

import numpy as np
import pytest
from recordings import moving_block

from mixfield.errors import MixfieldError
from mixfield.io.background import Background

pytest.importorskip("cv2")


@pytest.mark.parametrize("method", ["MOG2", "KNN"])
def test_background_masks(method):
    frames, truth = moving_block(np.random.default_rng(0))
    background = Background(frames, method)
    for k in (3, 22, 27, 55):
        mask = background.mask(frames[k]) > 0
        assert (mask & truth[k]).sum() / (mask | truth[k]).sum() > 0.85
    first = background.mask(frames[3])
    background.mask(frames[9])
    np.testing.assert_array_equal(background.mask(frames[3]), first)


def test_bad_backgrounds():
    with pytest.raises(MixfieldError, match="MOG2, KNN"):
        Background([np.zeros((4, 4), np.uint8)], "median")
    with pytest.raises(MixfieldError, match="at least one frame"):
        Background([])
