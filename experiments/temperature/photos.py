"""The photo on which the models are measured: one with the scores of a network, or a synthetic one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from experiments.annotated import AnnotatedFolder, block_means

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Photo:
    """An image with foreground scores.

    Attributes
    ----------
    image : (H, W, 3) from 0 to 255.
    foreground : (H, W) probability of foreground.
    """

    name: str
    image: Floats
    foreground: Floats

    def reduced(self, longest: int) -> Photo:
        """The same photo with at most ``longest`` pixels along a side, by block means."""
        step = max(1, -(-max(self.foreground.shape) // longest))
        foreground = block_means(self.foreground[..., None], step)[..., 0]
        return Photo(self.name, block_means(self.image, step), foreground)


def network_photo(folder: Path, name: str = "2007_000033") -> Photo:
    """An image of PASCAL VOC with DeepLab scores; every label but background is foreground."""
    example = AnnotatedFolder(folder, "dl513").load(name)
    foreground = 1.0 - example.probs[..., 0].astype(np.float64)
    return Photo(f"PASCAL VOC {name}, DeepLab scores", np.asarray(example.image, np.float64), foreground)


def synthetic_photo(size: int = 160, *, rng: int = 0) -> Photo:
    """Two textured discs on a textured background.

    Scores are confident on a scribble inside the first disc and at the lower border, and 0.5 elsewhere.  The colour of
    the second disc is close to the background.
    """
    generator = np.random.default_rng(rng)
    y, x = np.mgrid[:size, :size] / size
    image = np.full((size, size, 3), (60.0, 80.0, 70.0))
    image[np.hypot(x - 0.32, y - 0.4) < 0.2] = (190, 150, 90)
    image[np.hypot(x - 0.72, y - 0.5) < 0.16] = (120, 115, 80)
    image += 40 * gaussian_filter(generator.standard_normal(image.shape), (3, 3, 0))
    foreground = np.full((size, size), 0.5)
    foreground[np.hypot(x - 0.32, y - 0.4) < 0.06] = 0.99
    foreground[y > 0.85] = 0.01
    return Photo("a drawn photo with scribbles", np.clip(image, 0, 255), foreground)
