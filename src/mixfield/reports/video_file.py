"""Frames of a segmented video as a file, from which its page can be made again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays, _files, _npy
from mixfield.errors import FileFormatError, MixfieldError
from mixfield.reports.segmentation import displayed
from mixfield.reports.video_page import VideoFrame

Arrays = dict[str, NDArray[Any]]

VERSION = 1
NEEDED = ("images", "mean_field", "modes", "weights", "chosen")
LABELS = 2**31


def write_video(path: Path, frames: Sequence[VideoFrame]) -> None:
    """Write frames of one size as `read_video` reads them; missing modes are padding."""
    most = max(len(np.asarray(frame.weights)) for frame in frames)

    def padded(array: ArrayLike) -> NDArray[Any]:
        values = np.asarray(array)
        return np.pad(values, [(0, most - len(values))] + [(0, 0)] * (values.ndim - 1))

    with _files.draft(path) as draft, open(draft, "xb") as file:
        np.savez_compressed(
            file,
            version=VERSION,
            images=np.stack([displayed(frame.image) for frame in frames]),
            mean_field=np.stack([np.asarray(frame.mean_field) for frame in frames]),
            modes=np.stack([padded(frame.modes) for frame in frames]),
            weights=np.stack([padded(frame.weights) for frame in frames]),
            chosen=np.array([frame.chosen for frame in frames]),
            numbers=np.array([t if frame.number is None else frame.number for t, frame in enumerate(frames)]),
        )


def read_video(path: Path, frames: slice = slice(None)) -> list[VideoFrame]:
    """Frames of a file, or some of them by their place.

    The file holds ``images`` (T, H, W) or (T, H, W, 3), ``mean_field`` (T, H, W), ``modes`` (T, K, H, W), ``weights``
    (T, K) and ``chosen`` (T,); modes of weight zero at the end of a frame are padding.  ``costs`` (T,), ``numbers``
    (T,) and ``version`` may be left out.
    """
    arrays = _npy.read_npz(path, "is no segmented video")
    version = arrays.get("version", np.array(VERSION))
    if version.tolist() != VERSION:
        raise FileFormatError(
            f"{path} has format version {version.tolist()}, this mixfield reads version {VERSION}; "
            "install the mixfield that wrote it, or a newer one"
        )
    missing = set(NEEDED) - set(arrays)
    if missing:
        raise FileFormatError(f"{path} is no segmented video: it lacks {', '.join(sorted(missing))}")
    try:
        checked = _checked(arrays)
    except MixfieldError as error:
        raise FileFormatError(f"{path} is no segmented video: {error}") from None
    return [_frame(checked, t) for t in range(len(checked["images"]))[frames]]


def _checked(arrays: Arrays) -> Arrays:
    """The arrays, of kinds and shapes that fit together."""
    images = arrays["images"]
    if images.dtype != np.uint8 or images.ndim not in (3, 4) or (images.ndim == 4 and images.shape[3] != 3):
        raise MixfieldError(
            f"images must be of uint8 and (T, H, W) or (T, H, W, 3), got {images.dtype} of {images.shape}"
        )
    count, height, width = images.shape[:3]
    weights = _arrays.floats("weights", arrays["weights"], largest=1.0)
    if weights.ndim != 2 or (weights < 0).any() or np.isinf(weights).any():
        raise MixfieldError("weights must be probabilities, one row per frame")
    modes = weights.shape[1]
    found = {
        "images": images,
        "weights": weights,
        "mean_field": _arrays.integers("mean_field", arrays["mean_field"], low=0, high=LABELS),
        "modes": _arrays.integers("modes", arrays["modes"], low=0, high=LABELS),
        "chosen": _arrays.integers("chosen", arrays["chosen"], low=0, high=max(1, modes)),
        "numbers": _arrays.integers("numbers", arrays.get("numbers", np.arange(count)), low=0, high=2**53),
    }
    shapes = {
        "weights": (count, modes),
        "mean_field": (count, height, width),
        "modes": (count, modes, height, width),
        "chosen": (count,),
        "numbers": (count,),
    }
    if "costs" in arrays:
        found["costs"], shapes["costs"] = _arrays.floats("costs", arrays["costs"]), (count,)
    for name, shape in shapes.items():
        _arrays.check_shape(name, found[name], shape, "to match the images and the weights")
    return found


def _frame(arrays: Arrays, t: int) -> VideoFrame:
    count = max(int(np.count_nonzero(arrays["weights"][t])), int(arrays["chosen"][t]) + 1)
    return VideoFrame(
        image=arrays["images"][t],
        mean_field=arrays["mean_field"][t],
        modes=arrays["modes"][t][:count],
        weights=arrays["weights"][t][:count],
        chosen=int(arrays["chosen"][t]),
        cost=float(arrays["costs"][t]) if "costs" in arrays else None,
        number=int(arrays["numbers"][t]),
    )
