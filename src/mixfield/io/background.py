"""Foreground masks from footage: a background is learned from frames of the whole recording and then fixed.

A mask therefore does not depend on the order of the frames, and people who stand still do not become background.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield.errors import MixfieldError
from mixfield.io import opencv

Image = NDArray[np.uint8]

METHODS = ("MOG2", "KNN")
MOG2_THRESHOLD = 36.0  # squared distance, in variances, from which a pixel is foreground
KNN_THRESHOLD = 800.0  # squared distance in grey levels
BACKGROUND_RATIO = 0.7  # share of the frames that must agree on a background color
SHADOW_THRESHOLD = 0.7  # a shadow has at least this share of the brightness of the background
KNN_SAMPLES = 10  # per pixel in each of the three sets of the model
FILTER_SIZE = 5  # pixels: smaller specks and holes are removed
FOREGROUND = 255


class Background:
    """A learned background.

    Parameters
    ----------
    frames : images (H, W, 3) or (H, W) from the whole recording, 100 to 200 of them.
    method : ``"MOG2"`` or ``"KNN"``, the background subtractors of OpenCV.
    """

    def __init__(self, frames: Iterable[Image], method: str = "MOG2") -> None:
        if method not in METHODS:
            raise MixfieldError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
        images = list(frames)
        if not images:
            raise MixfieldError("a background needs at least one frame to learn from")
        self._model = _subtractor(method, history=len(images))
        # in random order, with learning rates that give all frames the same weight
        for k, index in enumerate(np.random.default_rng(0).permutation(len(images))):
            self._model.apply(images[index], learningRate=1.0 / (k + 1))

    def mask(self, image: Image) -> Image:
        """(H, W) 255 for foreground, else 0; shadows, specks and holes are removed."""
        cv2 = opencv.library()
        foreground = self._model.apply(image, learningRate=0.0) == FOREGROUND  # shadows have another level
        levels = np.where(foreground, FOREGROUND, 0).astype(np.uint8)
        disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (FILTER_SIZE, FILTER_SIZE))
        return np.asarray(cv2.morphologyEx(cv2.medianBlur(levels, FILTER_SIZE), cv2.MORPH_CLOSE, disc))


def _subtractor(method: str, history: int) -> Any:
    """OpenCV's model with our settings."""
    cv2 = opencv.library()
    if method == "MOG2":
        model = cv2.createBackgroundSubtractorMOG2(history, MOG2_THRESHOLD, True)
        model.setBackgroundRatio(BACKGROUND_RATIO)
    else:
        model = cv2.createBackgroundSubtractorKNN(history, KNN_THRESHOLD, True)
        model.setNSamples(KNN_SAMPLES)
        model.setkNNSamples(round((1.0 - BACKGROUND_RATIO) * 3 * KNN_SAMPLES))
    model.setShadowThreshold(SHADOW_THRESHOLD)
    return model
