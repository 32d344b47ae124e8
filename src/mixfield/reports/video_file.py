"""The frames of a video page as a file, from which ``mixfield report`` makes the page again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays, _files, _npy
from mixfield.errors import FileFormatError, MixfieldError
from mixfield.reports.segmentation_figure import displayed
from mixfield.reports.video_page import VideoFrame

Arrays = dict[str, NDArray[Any]]

VERSION = 1
REQUIRED = ("images", "mean_field", "modes", "weights", "chosen")
MAX_LABELS = 2**31
MAX_NUMBER = 2**53  # of a frame: the largest integer that JavaScript represents


def write_video(path: Path, frames: Sequence[VideoFrame]) -> None:
    """Write frames of one size for `read_video`; modes that a frame does not have are padded."""
    n_modes = max(len(np.asarray(frame.weights)) for frame in frames)

    def padded(array: ArrayLike) -> NDArray[Any]:
        values = np.asarray(array)
        return np.pad(values, [(0, n_modes - len(values))] + [(0, 0)] * (values.ndim - 1))

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
    """Read frames of a file, all or a slice of them.

    The file contains ``images`` (T, H, W) or (T, H, W, 3), ``mean_field`` (T, H, W), ``modes`` (T, K, H, W),
    ``weights`` (T, K) and ``chosen`` (T,); modes of weight zero at the end of a frame are padding.  Optional are
    ``costs`` (T,), ``numbers`` (T,) and ``version``.
    """
    arrays = _npy.read_npz(path, "is no segmented video")
    version = arrays.get("version", np.array(VERSION)).tolist()
    if version != VERSION:
        raise FileFormatError(
            f"{path} has format version {version}, this mixfield reads version {VERSION}; "
            "install the mixfield that wrote it, or a newer one"
        )
    missing = set(REQUIRED) - set(arrays)
    if missing:
        raise FileFormatError(f"{path} is no segmented video: it lacks {', '.join(sorted(missing))}")
    try:
        checked = _checked(arrays)
    except MixfieldError as error:
        raise FileFormatError(f"{path} is no segmented video: {error}") from None
    return [_frame(checked, t) for t in range(len(checked["images"]))[frames]]


def _checked(arrays: Arrays) -> Arrays:
    """The arrays with their types and shapes checked."""
    images, weights = _checked_images(arrays["images"]), _checked_weights(arrays["weights"])
    (count, height, width), n_modes = images.shape[:3], weights.shape[1]
    numbers = arrays.get("numbers", np.arange(count))
    found: Arrays = {
        "images": images,
        "weights": weights,
        "mean_field": _checked_labels("mean_field", arrays["mean_field"]),
        "modes": _checked_labels("modes", arrays["modes"]),
        "chosen": _arrays.integers("chosen", arrays["chosen"], low=0, high=max(1, n_modes)),
        "numbers": _arrays.integers("numbers", numbers, low=0, high=MAX_NUMBER),
    }
    if "costs" in arrays:
        found["costs"] = _arrays.floats("costs", arrays["costs"])
    shapes = {
        "weights": (count, n_modes),
        "mean_field": (count, height, width),
        "modes": (count, n_modes, height, width),
    }
    for name in [name for name in found if name != "images"]:
        _arrays.check_shape(name, found[name], shapes.get(name, (count,)), "to match the images and the weights")
    return found


def _checked_images(images: NDArray[Any]) -> NDArray[np.uint8]:
    if images.dtype != np.uint8 or images.ndim not in (3, 4) or (images.ndim == 4 and images.shape[3] != 3):
        raise MixfieldError(
            f"images must be of uint8 and (T, H, W) or (T, H, W, 3), got {images.dtype} of {images.shape}"
        )
    return images


def _checked_labels(name: str, labels: NDArray[Any]) -> NDArray[Any]:
    """Labels of the type that they have in the file: as int64, those of one byte would take eight times the memory."""
    if labels.dtype.kind not in "iu" or labels.size == 0:
        return _arrays.integers(name, labels, low=0, high=MAX_LABELS)
    _arrays.integers(name, [labels.min(), labels.max()], low=0, high=MAX_LABELS)
    return labels


def _checked_weights(weights: NDArray[Any]) -> NDArray[np.float64]:
    found = _arrays.floats("weights", weights, largest=1.0)
    if found.ndim != 2 or (found < 0).any() or np.isinf(found).any():
        raise MixfieldError("weights must be probabilities, one row per frame")
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
