"""Foreground masks from footage: a background is learned from frames of the whole recording, then held fixed.

The mask of a frame is therefore the same whichever frames are asked for before it, and people who stand still for a
while do not fade away, as they would in a background that follows the footage.
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
DEVIATION = 36.0  # MOG2: squared distance, in variances, at which a pixel is foreground
DISTANCE = 800.0  # KNN: the same in grey values
STEADY = 0.7  # part of the frames that must agree for a colour to be background
SHADE = 0.7  # a shadow keeps at least this part of the brightness
SAMPLES = 10  # KNN: remembered per pixel and set
GAP = 5  # pixels: smaller specks and holes are removed


class Background:
    """A learned background.

    Parameters
    ----------
    frames : images (H, W, 3) or (H, W) from all over the recording, 100 to 200 of them.
    method : ``"MOG2"`` or ``"KNN"``, OpenCV's two background subtractors.
    """

    def __init__(self, frames: Iterable[Image], method: str = "MOG2") -> None:
        if method not in METHODS:
            raise MixfieldError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
        images = list(frames)
        if not images:
            raise MixfieldError("a background needs at least one frame to learn from")
        cv2 = opencv.library()
        count = len(images)
        if method == "MOG2":
            self._model: Any = cv2.createBackgroundSubtractorMOG2(count, DEVIATION, True)
            self._model.setBackgroundRatio(STEADY)
        else:
            self._model = cv2.createBackgroundSubtractorKNN(count, DISTANCE, True)
            self._model.setNSamples(SAMPLES)
            self._model.setkNNSamples(round((1.0 - STEADY) * 3 * SAMPLES))  # it keeps three sets of samples
        self._model.setShadowThreshold(SHADE)
        # in random order, all with the same weight: no frame is forgotten
        for k, at in enumerate(np.random.default_rng(0).permutation(count)):
            self._model.apply(images[at], learningRate=1.0 / (k + 1))

    def mask(self, image: Image) -> Image:
        """(H, W) 255 where somebody or something is, else 0: shadows, specks and holes removed."""
        cv2 = opencv.library()
        moving = np.where(self._model.apply(image, learningRate=0.0) == 255, 255, 0).astype(np.uint8)
        kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (GAP, GAP))
        return np.asarray(cv2.morphologyEx(cv2.medianBlur(moving, GAP), cv2.MORPH_CLOSE, kernel))
