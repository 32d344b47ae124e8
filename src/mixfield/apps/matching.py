"""Which pixels of two successive frames show the same point: what carries labels through time.

A matcher is any object with ``match(first, second)``; both of ours use OpenCV.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mixfield._opencv import library
from mixfield.apps.pictures import intensities

Ints = NDArray[np.int64]
Picture = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Matches:
    """Pixels of two frames that belong together.

    Attributes
    ----------
    first, second : (p,) pixels, numbered in C order.
    share : of the points looked at, how many found a partner.
    """

    first: Ints
    second: Ints
    share: float


class Matcher(Protocol):
    """Finds pixels that belong together."""

    def match(self, first: Picture, second: Picture, /) -> Matches:
        """Matches between two images of the same size."""


@dataclass(frozen=True)
class Flow:
    """Dense optical flow (DIS) forth and back; a point counts if it returns to where it came from and looks the same.

    Attributes
    ----------
    every : spacing of the points in pixels.
    slip : pixels that a point may miss its origin by.
    fade : by how much its intensity (0 to 255) may change.
    """

    every: int = 2
    slip: float = 1.0
    fade: float = 20.0

    def match(self, first: Picture, second: Picture) -> Matches:
        before, after = _grey(first), _grey(second)
        forth, back = _flow(before, after), _flow(after, before)
        height, width = before.shape
        y, x = (axis.ravel() for axis in np.mgrid[0 : height : self.every, 0 : width : self.every])
        there_x, there_y = x + forth[y, x, 0], y + forth[y, x, 1]
        to_x, to_y = np.rint(there_x).astype(np.int64), np.rint(there_y).astype(np.int64)
        inside = (to_x >= 0) & (to_x < width) & (to_y >= 0) & (to_y < height)
        to_x, to_y = np.clip(to_x, 0, width - 1), np.clip(to_y, 0, height - 1)
        home = back[to_y, to_x]
        miss = np.hypot(there_x + home[:, 0] - x, there_y + home[:, 1] - y)
        change = np.abs(before[y, x].astype(np.float32) - after[to_y, to_x])
        good = inside & (miss <= self.slip) & (change <= self.fade)
        return Matches((y * width + x)[good], (to_y * width + to_x)[good], float(good.mean()))


SMALLEST = 16  # pixels of a side for which OpenCV finds the flow


def _flow(before: NDArray[np.uint8], after: NDArray[np.uint8]) -> NDArray[np.float32]:
    """(H, W, 2) where each pixel goes; small images are continued at their border."""
    cv2 = library()
    height, width = before.shape
    border = [(0, max(0, SMALLEST - height)), (0, max(0, SMALLEST - width))]
    images = (np.pad(image, border, mode="edge") for image in (before, after))
    flow = cv2.DISOpticalFlow_create(cv2.DISOPTICAL_FLOW_PRESET_FAST).calc(*images, None)
    return np.asarray(flow[:height, :width])


@dataclass(frozen=True)
class Keypoints:
    """SIFT points with a distinct partner, those kept that agree with one epipolar geometry (RANSAC).

    Attributes
    ----------
    count : points looked for in each frame.
    ratio : how much nearer the partner must be than the next best candidate.
    """

    count: int = 4000
    ratio: float = 0.8

    def match(self, first: Picture, second: Picture) -> Matches:
        cv2 = library()
        sift = cv2.SIFT_create(self.count)
        width = np.shape(first)[1]
        (points, one), (others, two) = (sift.detectAndCompute(_grey(image), None) for image in (first, second))
        none = np.empty(0, np.int64)
        if one is None or two is None or len(others) < 2:
            return Matches(none, none, 0.0)
        pairs = cv2.BFMatcher().knnMatch(one, two, k=2)
        near = [best for best, *rest in pairs if rest and best.distance < self.ratio * rest[0].distance]
        if len(near) < 8:
            return Matches(none, none, 0.0)
        start = np.array([points[pair.queryIdx].pt for pair in near])
        end = np.array([others[pair.trainIdx].pt for pair in near])
        _, inliers = cv2.findFundamentalMat(start, end, cv2.FM_RANSAC, 1.5, 0.99)
        good = np.zeros(len(near), bool) if inliers is None else inliers.ravel().astype(bool)
        share = float(good.sum() / max(1, len(points)))
        return Matches(_pixels(start[good], width), _pixels(end[good], width), share)


def _grey(image: Picture) -> NDArray[np.uint8]:
    return np.ascontiguousarray(np.rint(intensities(image).mean(-1)), np.uint8)


def _pixels(points: NDArray[np.float64], width: int) -> Ints:
    """Pixels under points (p, 2), x before y."""
    x, y = np.floor(points).astype(np.int64).T
    return np.asarray(y * width + x)
