"""Static occluders, learnt from footage: pixels where people vanish are unobserved, not background.

A sign or a post in front of the ground hides people who pass behind it: its pixels are never foreground, while people
appear at both of its sides.  With ``r(p)`` the share of the frames in which pixel p is foreground, and e(p) the smaller
of the largest (smoothed) r within `REACH` widths of a person to the left and to the right of p in its row,

    p is hidden  if  r(p) < SHARE e(p)  and  e(p) >= LEAST,

without specks.  People who walk past are enough; no detections are needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield.errors import MixfieldError
from mixfield.scene.scene import Scene
from mixfield.scene.view import View

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

REACH = 1.5  # widths of a person: an occluder that is wider hides people whom the pixels around it do not announce
SHARE = 0.1
LEAST = 0.03  # share of the frames in which people are seen beside an occluder
SMOOTH = 2.0  # pixels
SPECK = 5  # pixels: occluders are at least as wide and as high


def learn_occluders(scene: Scene, frames: Iterable[Sequence[ArrayLike]]) -> Scene:
    """The scene with the pixels unobserved that hide people in every frame.

    Parameters
    ----------
    scene : ground and cameras.
    frames : masks of a hundred or more frames of the whole recording, one mask of its full size per view each.
    """
    sums, count = [np.zeros((view.height, view.width)) for view in scene.views], 0
    for masks in frames:
        if len(masks) != len(sums):
            raise MixfieldError(f"frames must hold one mask per view ({len(sums)}) each, got {len(masks)}")
        count += 1
        for total, mask, view in zip(sums, masks, scene.views, strict=True):
            total += view.foreground(mask) > 0.5
    if count == 0:
        raise MixfieldError("frames must hold the masks of at least one frame, got none")
    views = [
        _with_hidden(view, hidden_pixels(total / count, view)) for view, total in zip(scene.views, sums, strict=True)
    ]
    return replace(scene, views=tuple(views))


def hidden_pixels(rate: Floats, view: View) -> Bools:
    """(H, W) pixels that hide people, from the share of frames (H, W) in which each is foreground."""
    from scipy.ndimage import binary_opening, gaussian_filter

    hidden, smooth = np.zeros(rate.shape, bool), gaussian_filter(rate, SMOOTH)
    for row, reach in enumerate(_reaches(view)):
        if reach > 0:
            beside = _beside(smooth[row], reach)
            hidden[row] = (rate[row] < SHARE * beside) & (beside >= LEAST)
    return np.asarray(binary_opening(hidden, np.ones((SPECK, SPECK), np.bool_)), np.bool_)


def _reaches(view: View) -> NDArray[np.int64]:
    """(H,) pixels within which people are looked for, 0 in rows without people: their width is that of most boxes."""
    boxes = view.boxes[view.visible].astype(np.int64)
    rows, columns = np.zeros((2, view.height + 1))
    for edge, sign in ((boxes[:, 1], 1), (boxes[:, 3], -1)):
        np.add.at(rows, edge, sign)
        np.add.at(columns, edge, sign * (boxes[:, 2] - boxes[:, 0]))
    count, width = np.rint(rows.cumsum()[:-1]), columns.cumsum()[:-1]
    return np.asarray(np.where(count > 0, REACH * width / np.maximum(count, 1.0), 0.0), np.int64)


def _beside(values: Floats, reach: int) -> Floats:
    """(W,) the smaller of the largest of the ``reach`` values before and after each."""
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(values, reach), reach).max(-1)
    return np.asarray(np.minimum(windows[: len(values)], windows[reach + 1 : reach + 1 + len(values)]))


def _with_hidden(view: View, hidden: Bools) -> View:
    seen = 1.0 if view.observed is None else view.observed
    return replace(view, observed=np.where(hidden, 0.0, seen))
