"""Layers of the real napari, off screen: images and volumes with strokes."""

from __future__ import annotations

import os
import warnings

import numpy as np
import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
REASON = "napari is not installed: pip install 'mixfield[napari]'"
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of napari and what it imports
    pytest.importorskip("napari", reason=REASON)
    pytest.importorskip("qtpy.QtWidgets", reason=REASON, exc_type=ImportError)
    from napari.components import ViewerModel  # a viewer without its window, which would need OpenGL
    from napari.qt import threading as _threading  # noqa: F401

CLICK = slice(78, 83), slice(58, 63)


def picture():
    """(128, 128, 3) of scikit-image, in which strokes leave some doubt."""
    from skimage.data import astronaut

    return np.ascontiguousarray(astronaut()[::4, ::4])


def strokes_on(shape, *, object_value=2, background_value=1):
    """A click on the object and a line on the background, in the middle plane."""
    painted = np.zeros(shape, np.int32)
    plane = painted if painted.ndim == 2 else painted[len(painted) // 2]
    plane[CLICK], plane[3, 4:60] = object_value, background_value
    return painted


def flat():
    """A viewer with a color image and strokes."""
    viewer = ViewerModel()
    return viewer, viewer.add_image(picture(), name="photo"), viewer.add_labels(strokes_on((128, 128)), name="strokes")


def solid():
    """A viewer with a volume of 12 bits and strokes, whose voxels are three times as deep as wide."""
    grey = picture().mean(-1)
    noise = np.random.default_rng(0).normal(0, 5, (4, *grey.shape))
    volume = (16 * (grey + noise).clip(0, 255)).astype(np.uint16)
    viewer = ViewerModel()
    image = viewer.add_image(volume, name="cells", scale=(3, 1, 1))
    return viewer, image, viewer.add_labels(strokes_on(volume.shape), name="strokes", scale=(3, 1, 1))
