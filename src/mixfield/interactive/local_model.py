"""How probable each pixel around a click changes with it: a network with one hidden layer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Float32s = NDArray[np.float32]

DEFAULT = Path(__file__).with_name("local_model.npz")


@dataclass(frozen=True, eq=False)
class LocalModel:
    """The logit ``output @ tanh(features @ inner + inner_bias) + output_bias`` of a pixel.

    Attributes
    ----------
    inner, inner_bias : (F, H) and (H,), of the hidden units.
    output, output_bias : (H,) and (), of the logit.
    """

    inner: Float32s
    inner_bias: Float32s
    output: Float32s
    output_bias: Float32s

    def logits(self, features: NDArray[np.floating]) -> Float32s:
        """(h, w) logits of features (h, w, F)."""
        hidden = features.reshape(-1, len(self.inner)).astype(np.float32) @ self.inner + self.inner_bias
        np.tanh(hidden, out=hidden)
        return np.asarray((hidden @ self.output + self.output_bias).reshape(features.shape[:-1]))

    def save(self, path: str | PathLike[str]) -> None:
        """Write an ``.npz`` file."""
        np.savez_compressed(path, **vars(self))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> LocalModel:
        """Read what `save` wrote."""
        with np.load(path) as arrays:
            return cls(**{name: arrays[name] for name in arrays.files})


@cache
def default_model() -> LocalModel:
    """The model that was fitted to objects of photographs (``python -m experiments interactive --fit``)."""
    return LocalModel.load(DEFAULT)
