"""Bandwidths and weights of the kernels of an image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from numpy.typing import NDArray

from mixfield import _arrays
from mixfield.energy.gaussian import Bilateral, Gaussian, Kernel


@dataclass(frozen=True)
class Kernels:
    """Bandwidths and weights of the two kernels of a dense CRF; the defaults are those of `deeplab`.

    Attributes
    ----------
    smooth_sxy, smooth_weight : bandwidth in pixels and weight of the Gaussian (smoothness) kernel.
    sxy, srgb, weight : bandwidths in pixels and in intensities (0 to 255), and weight, of the bilateral (appearance)
        kernel.
    """

    smooth_sxy: float = 3.0
    smooth_weight: float = 3.0
    sxy: float = 67.0
    srgb: float = 3.0
    weight: float = 4.0

    def __post_init__(self) -> None:
        for entry in fields(self):
            value = getattr(self, entry.name)
            if entry.name.endswith("weight") and value == 0:
                continue
            object.__setattr__(self, entry.name, _arrays.positive(entry.name, value))

    @classmethod
    def deeplab(cls) -> Kernels:
        """DeepLab's values, for the scores of convolutional networks."""
        return cls()

    def reduced(self, step: int) -> Kernels:
        """The kernels of an image of which ``step`` x ``step`` pixels are one."""
        return replace(self, smooth_sxy=self.smooth_sxy / step, sxy=self.sxy / step)

    def pairwise(self, image: NDArray[Any], origin: Sequence[int] = ()) -> list[Kernel]:
        """The kernels that have a weight, for intensities (*shape, channels); ``origin`` as for `Bilateral`."""
        kernels: list[Kernel] = []
        if self.smooth_weight:
            kernels.append(Gaussian(self.smooth_sxy, self.smooth_weight))
        if self.weight:
            kernels.append(Bilateral(image, self.sxy, self.srgb, self.weight, origin=origin))
        return kernels
