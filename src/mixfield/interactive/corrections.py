"""What a click says beyond its own pixels: the annotator saw a segmentation, and corrected its largest error.

If a labeling is the truth, the errors of the segmentation that was shown are known: connected regions in which the two
differ and the truth has one label.  An annotator clicks near the middle of the largest.  So a labeling is the more
probable, the larger the region of the click is among its errors, and the deeper in that region the click lies.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt, find_objects, label

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LARGEST = 20_000  # pixels of the reduced maps
EIGHT = np.ones((3, 3))  # neighbours
NO_SHARE, NO_DEPTH = 0.02, 0.1  # of a click outside all errors
LEAST_DEPTH = 0.05


@dataclass(frozen=True, eq=False)
class Correction:
    """A click on a segmentation.

    Attributes
    ----------
    row, column : of the click.
    label : that it gives.
    shown : (h, w) labels that the annotator saw.
    """

    row: int
    column: int
    label: int
    shown: NDArray[np.integer]


def correction_features(maps: Ints, correction: Correction) -> Floats:
    """(K, 2) how well labelings (K, h, w) explain a correction: logarithms of share and depth.

    The share is the size of the region of the click, divided by that of the largest error; the depth is the distance of
    the click from the border of its region, divided by the largest distance in it.
    """
    height, width = correction.shown.shape
    step = max(1, int(np.ceil(np.sqrt(height * width / LARGEST))))
    part = np.s_[..., step // 2 :: step, step // 2 :: step]
    shown, reduced = correction.shown[part], maps[part]
    row, column = min(correction.row // step, shown.shape[0] - 1), min(correction.column // step, shown.shape[1] - 1)
    return np.log([_share_and_depth(one, shown, row, column, correction.label) for one in reduced])


def _share_and_depth(truth: Ints, shown: NDArray[np.integer], row: int, column: int, clicked: int) -> Floats:
    wrong = truth != shown
    regions, _ = label(wrong & (truth == clicked), EIGHT)
    mine = _region_at(regions, row, column)
    if mine == 0:
        return np.array([NO_SHARE, NO_DEPTH])
    sizes = np.bincount(regions.ravel())[1:]
    largest = max(sizes.max(), _largest_of_others(wrong, truth, clicked))
    return np.array([sizes[mine - 1] / largest, max(_relative_depth(regions, mine, row, column), LEAST_DEPTH)])


def _region_at(regions: NDArray[np.integer], row: int, column: int) -> int:
    """The region of a pixel, or of one of its neighbours; 0 if there is none."""
    if regions[row, column]:
        return int(regions[row, column])
    return int(regions[max(row - 1, 0) : row + 2, max(column - 1, 0) : column + 2].max())


def _largest_of_others(wrong: Bools, truth: Ints, clicked: int) -> int:
    """Size of the largest error of another label."""
    largest = 0
    for other in np.unique(truth[wrong & (truth != clicked)]):
        regions, _ = label(wrong & (truth == other), EIGHT)
        largest = max(largest, int(np.bincount(regions.ravel())[1:].max()))
    return largest


def _relative_depth(regions: NDArray[np.integer], mine: int, row: int, column: int) -> float:
    """Distance to the border of a region divided by the largest in it; the border of the image counts too."""
    box = find_objects(regions, mine)[mine - 1]
    depth = distance_transform_edt(np.pad(regions[box] == mine, 1))
    here = depth[
        min(max(row - box[0].start, -1), depth.shape[0] - 3) + 1,
        min(max(column - box[1].start, -1), depth.shape[1] - 3) + 1,
    ]
    return float(max(here, 0.5) / depth.max())
