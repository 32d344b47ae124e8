"""Photographs and videos with true labels and network scores, as the public data sets of the project store them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from mixfield import Kernels
from mixfield._pictures import resize_bilinear
from mixfield.energy import DenseCRF
from mixfield.errors import MixfieldError
from mixfield.io import read_image, read_label_map

Network = Literal["dl513", "dl257", "espnet"]
Float32s = NDArray[np.float32]

VOID = 255  # label of pixels that are not annotated
INPUT = (513, 513)  # input size of dl513; the image fills its upper left corner


@dataclass(frozen=True, eq=False)
class Example:
    """One annotated image.

    Attributes
    ----------
    image : (H, W, 3) colours.
    truth : (H, W) labels, `VOID` where not annotated.
    probs : (H, W, L) probabilities of the network.
    step : a pixel is the mean of ``step`` x ``step`` pixels of the original image.
    """

    name: str
    image: NDArray[Any]
    truth: NDArray[np.int64]
    probs: Float32s
    step: int = 1

    def energy(self) -> DenseCRF:
        """The dense CRF with default kernels, whose widths are divided by ``step``."""
        kernels = Kernels()
        return DenseCRF.from_probabilities(
            self.probs, self.image, smooth_sxy=kernels.smooth_sxy / self.step, sxy=kernels.sxy / self.step
        )

    def reduced(self, step: int) -> Example:
        """Means of blocks of ``step`` x ``step`` pixels, with the true label of their centre."""
        if step == 1:
            return self
        image, probs = block_means(self.image, step), block_means(self.probs, step)
        truth = self.truth[step // 2 :: step, step // 2 :: step][: image.shape[0], : image.shape[1]]
        return Example(self.name, np.rint(image).astype(self.image.dtype), truth, probs.astype(np.float32), step)


def block_means(array: NDArray[Any], step: int) -> NDArray[np.float64]:
    """Means over blocks of ``step`` x ``step`` pixels, (H, W, C) to (H // step, W // step, C)."""
    height, width = (length // step for length in array.shape[:2])
    whole = array[: height * step, : width * step]
    return np.asarray(whole.reshape(height, step, width, step, -1).mean((1, 3)), np.float64)


@dataclass(frozen=True)
class AnnotatedFolder:
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
        """Names of the images, in order."""
        scores = self._scores
        return [str(name) for name in scores["frames" if "frames" in scores else "names"]]

    @property
    def is_binary(self) -> bool:
        """Whether the true labels are foreground and background only."""
        return self.folder.parent.name == "davis"

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        key = "logits" if "logits" in self._scores else "neglogits_u8"
        return 2 if self.is_binary else int(self._scores[key].shape[1])

    def truth(self, name: str) -> NDArray[np.int64]:
        """(H, W) true labels of one of the images, as they are stored."""
        return np.asarray(read_label_map(self.folder / "gt" / f"{name}.png"), np.int64)

    def load(self, name: str) -> Example:
        """Read one of the images."""
        image = read_image(next((self.folder / "img").glob(f"{name}.*")))[..., :3]
        truth = self.truth(name)
        probs = self._probabilities(self.names.index(name), image.shape[:2])
        if self.net == "espnet":
            truth = np.where(truth >= self.n_labels, VOID, truth)
        if self.is_binary:
            truth, probs = (truth > 0).astype(np.int64), self._foreground(probs)
        return Example(name, image, truth, probs)

    def _foreground(self, probs: Float32s) -> Float32s:
        """Probabilities (H, W, 2) of background and of the classes that are foreground in this sequence."""
        meta = json.loads((self.folder.parent / "meta.json").read_text(encoding="utf-8"))
        foreground = probs[..., meta[self.folder.name]["fg_classes"]].sum(-1)
        return np.stack([1 - foreground, foreground], -1)

    def _probabilities(self, index: int, shape: tuple[int, int]) -> Float32s:
        """Probabilities (H, W, L) at the resolution of the image."""
        scores = self._scores
        if self.net == "espnet":
            logits = -scores["neglogits_u8"][index].astype(np.float32) * scores["step"]
            return _softmax(resize_bilinear(_channels_last(logits), shape))
        logits = _channels_last(scores["logits"][index].astype(np.float32))
        if self.net == "dl257":
            return _softmax(resize_bilinear(logits, shape, align_corners=True))
        height, width = scores["hw"][index] if scores["hw"].ndim == 2 else scores["hw"]
        padded = resize_bilinear(logits, INPUT, align_corners=True)
        return _softmax(resize_bilinear(np.ascontiguousarray(padded[:height, :width]), shape))


def _channels_last(array: Float32s) -> Float32s:
    return np.ascontiguousarray(np.moveaxis(array, 0, -1))


def _softmax(logits: Float32s) -> Float32s:
    return np.asarray(softmax(logits, axis=-1), np.float32)
