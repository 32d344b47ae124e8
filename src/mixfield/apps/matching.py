"""Point correspondences between successive frames, by optical flow or by keypoints (OpenCV).

A matcher is any object with ``match(first, second)``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mixfield._opencv import library
from mixfield.apps.pictures import intensities

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bytes = NDArray[np.uint8]
Picture = NDArray[Any]

SMALLEST = 16  # pixels of a side for which DIS computes the flow


@dataclass(frozen=True, eq=False)
class Matches:
    """Corresponding pixels of two frames.

    Attributes
    ----------
    first, second : (p,) pixels of both frames, as indices in C order.
    share : matched points as a share of the points tried.
    """

    first: Ints
    second: Ints
    share: float

    @staticmethod
    def none() -> Matches:
        """No correspondences."""
        return Matches(np.empty(0, np.int64), np.empty(0, np.int64), 0.0)


class Matcher(Protocol):
    """Finds point correspondences."""

    def match(self, first: Picture, second: Picture, /) -> Matches:
        """Matches between two images of the same size."""


@dataclass(frozen=True)
class Flow:
    """Dense optical flow (DIS) with a forward-backward check.

    Attributes
    ----------
    step : spacing of the points in pixels.
    max_error : largest forward-backward error in pixels.
    max_change : largest change of intensity (0 to 255).
    """

    step: int = 2
    max_error: float = 1.0
    max_change: float = 20.0

    def match(self, first: Picture, second: Picture) -> Matches:
        before, after = _grey(first), _grey(second)
        forward, backward = _flow(before, after), _flow(after, before)
        height, width = before.shape
        y, x = (axis.ravel() for axis in np.mgrid[0 : height : self.step, 0 : width : self.step])
        x_moved, y_moved = x + forward[y, x, 0], y + forward[y, x, 1]
        column, row = np.rint(x_moved).astype(np.int64), np.rint(y_moved).astype(np.int64)
        inside = (column >= 0) & (column < width) & (row >= 0) & (row < height)
        column, row = np.clip(column, 0, width - 1), np.clip(row, 0, height - 1)
        back = backward[row, column]
        error = np.hypot(x_moved + back[:, 0] - x, y_moved + back[:, 1] - y)
        change = np.abs(before[y, x].astype(np.float32) - after[row, column])
        good = inside & (error <= self.max_error) & (change <= self.max_change)
        return Matches((y * width + x)[good], (row * width + column)[good], float(good.mean()))


@dataclass(frozen=True)
class Keypoints:
    """SIFT keypoints that pass the ratio test and agree with one epipolar geometry (RANSAC).

    Attributes
    ----------
    count : keypoints per frame.
    ratio : largest ratio of the distances to the best and the second best candidate.
    """

    count: int = 4000
    ratio: float = 0.8

    def match(self, first: Picture, second: Picture) -> Matches:
        cv2 = library()
        sift = cv2.SIFT_create(self.count)
        (points, one), (candidates, two) = (sift.detectAndCompute(_grey(image), None) for image in (first, second))
        if one is None or two is None or len(candidates) < 2:
            return Matches.none()
        pairs = cv2.BFMatcher().knnMatch(one, two, k=2)
        distinct = [best for best, *rest in pairs if rest and best.distance < self.ratio * rest[0].distance]
        if len(distinct) < 8:
            return Matches.none()
        start = np.array([points[pair.queryIdx].pt for pair in distinct])
        end = np.array([candidates[pair.trainIdx].pt for pair in distinct])
        good = _epipolar_inliers(start, end)
        width = np.shape(first)[1]
        return Matches(_pixels(start[good], width), _pixels(end[good], width), float(good.sum() / max(1, len(points))))


def _flow(before: Bytes, after: Bytes) -> NDArray[np.float32]:
    """(H, W, 2) displacement of each pixel; images smaller than DIS accepts are padded at their border."""
    cv2 = library()
    height, width = before.shape
    border = [(0, max(0, SMALLEST - height)), (0, max(0, SMALLEST - width))]
    images = (np.pad(image, border, mode="edge") for image in (before, after))
    flow = cv2.DISOpticalFlow_create(cv2.DISOPTICAL_FLOW_PRESET_FAST).calc(*images, None)
    return np.asarray(flow[:height, :width])


def _epipolar_inliers(start: Floats, end: Floats) -> NDArray[np.bool_]:
    """(p,) pairs that agree with one fundamental matrix."""
    cv2 = library()
    _, inliers = cv2.findFundamentalMat(start, end, cv2.FM_RANSAC, 1.5, 0.99)
    return np.zeros(len(start), bool) if inliers is None else np.asarray(inliers.ravel(), bool)


def _grey(image: Picture) -> Bytes:
    return np.ascontiguousarray(np.rint(intensities(image).mean(-1)), np.uint8)


def _pixels(points: Floats, width: int) -> Ints:
    """Indices of the pixels that contain points (p, 2), x before y."""
    x, y = np.floor(points).astype(np.int64).T
    return np.asarray(y * width + x)
