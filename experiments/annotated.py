"""Photographs and videos with truth and network scores, as the public data sets of the project store them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from mixfield.apps.pictures import resized
from mixfield.apps.segmentation import Kernels
from mixfield.energy.dense_crf import DenseCRF
from mixfield.errors import MixfieldError
from mixfield.io.images import read_image, read_label_map

Network = Literal["dl513", "dl257", "espnet"]
Float32s = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Example:
    """One annotated image: colours (H, W, 3), truth (H, W) with 255 for void, probabilities (H, W, L).

    Each of its pixels stands for a block of ``step`` a side.
    """

    name: str
    image: NDArray[Any]
    truth: NDArray[np.int64]
    probs: Float32s
    step: int = 1

    def energy(self) -> DenseCRF:
        """The default field, with kernels that shrink with the image."""
        kernels = Kernels()
        return DenseCRF.from_probabilities(
            self.probs, self.image, smooth_sxy=kernels.smooth_sxy / self.step, sxy=kernels.sxy / self.step
        )

    def reduced(self, step: int) -> Example:
        """The same with blocks of ``step`` pixels a side made one, whose truth is that of their centre."""
        if step == 1:
            return self
        middle = step // 2
        image, probs = blocks(self.image, step), blocks(self.probs, step)
        truth = self.truth[middle::step, middle::step][: image.shape[0], : image.shape[1]]
        return Example(self.name, np.rint(image).astype(self.image.dtype), truth, probs.astype(np.float32), step)


def blocks(picture: NDArray[Any], step: int) -> NDArray[np.float64]:
    """Means of blocks of ``step`` pixels a side of (H, W, C)."""
    height, width = (length // step for length in picture.shape[:2])
    cut = picture[: height * step, : width * step]
    return np.asarray(cut.reshape(height, step, width, step, -1).mean((1, 3)), np.float64)


@dataclass(frozen=True)
class Annotated:
    """A folder with ``img/``, ``gt/`` and the scores of a network at its own resolution."""

    folder: Path
    net: Network

    @cached_property
    def _scores(self) -> dict[str, NDArray[Any]]:
        path = self.folder / f"unary_{self.net}.npz"
        if not path.is_file():
            raise MixfieldError(f"{path} does not exist; give the folder of the public data with --data")
        with np.load(path) as file:
            return dict(file)

    @cached_property
    def names(self) -> list[str]:
        """Of the images, in order."""
        scores = self._scores
        return [str(name) for name in scores["frames" if "frames" in scores else "names"]]

    @property
    def is_binary(self) -> bool:
        """Whether the truth only tells a foreground object."""
        return self.folder.parent.name == "davis"

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return 2 if self.is_binary else self._scores["logits" if "logits" in self._scores else "neglogits_u8"].shape[1]

    def load(self, name: str) -> Example:
        """One of the images."""
        image = read_image(next((self.folder / "img").glob(f"{name}.*")))[..., :3]
        truth = np.asarray(read_label_map(self.folder / "gt" / f"{name}.png"), np.int64)
        probs = self._probabilities(self.names.index(name), image.shape[:2])
        if self.net == "espnet":
            truth = np.where(truth >= self.n_labels, 255, truth)
        if self.is_binary:
            truth = (truth > 0).astype(np.int64)
            kinds = json.loads((self.folder.parent / "meta.json").read_text())[self.folder.name]["fg_classes"]
            front = probs[..., kinds].sum(-1)
            probs = np.stack([1 - front, front], -1)
        return Example(name, image, truth, probs)

    def _probabilities(self, k: int, shape: tuple[int, int]) -> Float32s:
        scores = self._scores
        if self.net == "espnet":
            logits = -scores["neglogits_u8"][k].astype(np.float32) * scores["step"]
            return _softmax(resized(_last(logits), shape))
        logits = _last(scores["logits"][k].astype(np.float32))
        if self.net == "dl257":
            return _softmax(_between_corners(logits, shape))
        height, width = scores["hw"][k] if scores["hw"].ndim == 2 else scores["hw"]
        whole = _between_corners(logits, (513, 513))  # the network's input, of which the image fills one corner
        return _softmax(resized(np.ascontiguousarray(whole[:height, :width]), shape))


def _last(array: Float32s) -> Float32s:
    return np.ascontiguousarray(np.moveaxis(array, 0, -1))


def _softmax(logits: Float32s) -> Float32s:
    return np.asarray(softmax(logits, axis=-1), np.float32)


def _between_corners(array: Float32s, shape: tuple[int, int]) -> Float32s:
    """Bilinear interpolation of (h, w, C) at (H, W), first and last pixels on each other."""
    for axis in (0, 1):
        at = np.linspace(0, array.shape[axis] - 1, shape[axis])
        below = np.minimum(at.astype(np.intp), max(0, array.shape[axis] - 2))
        above = np.minimum(below + 1, array.shape[axis] - 1)
        part = np.expand_dims((at - below).astype(np.float32), (1, 2) if axis == 0 else (0, 2))
        low = array.take(below, axis)
        array = low + part * (array.take(above, axis) - low)
    return array
