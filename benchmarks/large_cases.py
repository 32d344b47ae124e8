"""Large images for benchmarks/large.py: photographs with network scores side by side, enlarged, and repeated.

Without the data, smooth random colours with scores that follow them stand in.
"""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import numpy as np
from scipy.ndimage import gaussian_filter

from mixfield._pictures import resize_bilinear

DATA = Path(os.environ.get("MIXFIELD_DATA", Path(__file__).parents[2] / "shared" / "data"))
ENLARGED, HEIGHT = 2, 375  # every photograph gets ENLARGED times as many rows, cut or repeated to HEIGHT of them
GROUPS = ((), (15,), (3, 8, 10, 12, 13, 17), (1, 2, 4, 6, 7, 14, 19))  # rest, people, animals, vehicles


def mosaic(height: int, width: int, labels: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """(height, width, 3) uint8 and (height, width, labels) float32 probabilities; 4 labels or the networks' 21."""
    photographs = _photographs(labels)
    image = np.empty((height, width, 3), np.uint8)
    scores = np.empty((height, width, labels), np.float32)
    step, number = ENLARGED * HEIGHT, 0
    for top in range(0, height, step):
        left = 0
        while left < width:
            picture, probs = photographs(number)
            rows, columns = slice(top, min(height, top + step)), slice(left, min(width, left + picture.shape[1]))
            chosen = np.ix_(
                np.minimum(np.arange(rows.stop - rows.start), len(picture) - 1), np.arange(columns.stop - columns.start)
            )
            image[rows, columns], scores[rows, columns] = picture[chosen], probs[chosen]
            left, number = columns.stop, number + 1
    return image, scores


def write_zarr(folder: Path, side: int, labels: int = 4) -> tuple[Path, Path]:
    """A square image and its scores as zarr: one mosaic, repeated with every second copy mirrored."""
    import zarr

    unit = min(side, 2048)
    image, scores = mosaic(unit, unit, labels)
    paths = folder / f"image_{side}.zarr", folder / f"scores_{side}.zarr"
    if all(path.exists() for path in paths):
        return paths
    for path, part in zip(paths, (image, scores.astype(np.float16)), strict=True):
        array = zarr.create_array(
            path, shape=(side, side, part.shape[2]), chunks=(512, 512, part.shape[2]), dtype=part.dtype
        )
        for row in range(0, side, unit):
            for column in range(0, side, unit):
                flipped = part[:: -1 if (row // unit) % 2 else 1, :: -1 if (column // unit) % 2 else 1]
                array[row : row + unit, column : column + unit] = flipped[: side - row, : side - column]
    return paths


def _photographs(labels: int):
    if not (DATA / "load.py").is_file() or importlib.util.find_spec("PIL") is None:
        return lambda number: _synthetic(number, labels)
    spec = importlib.util.spec_from_file_location("large_data", DATA / "load.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    names = module.names("segmentation/voc")

    def photograph(number: int) -> tuple[np.ndarray, np.ndarray]:
        image, _, probs = module.load("segmentation/voc", names[number % len(names)], "dl257")
        if labels == 4:
            grouped = [probs[..., list(group)].sum(-1) for group in GROUPS[1:]]
            probs = np.stack([np.maximum(probs.sum(-1) - sum(grouped), 0), *grouped], -1)
        shape = image.shape[0] * ENLARGED, image.shape[1] * ENLARGED
        larger = resize_bilinear(image.astype(np.float32), shape)
        return larger.astype(np.uint8), resize_bilinear(np.asarray(probs, np.float32), shape)

    return photograph


def _synthetic(number: int, labels: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(number)
    shape = HEIGHT * ENLARGED, 500 * ENLARGED
    logits = np.stack([gaussian_filter(rng.normal(size=shape), 40) for _ in range(labels)], -1)
    logits /= logits.std()
    truth = logits.argmax(-1)
    colours = rng.uniform(20, 235, (labels, 3))[truth] + rng.normal(0, 4, (*shape, 3))
    odds = np.exp(1.5 * logits + rng.normal(0, 0.5, logits.shape))
    return np.clip(colours, 0, 255).astype(np.uint8), (odds / odds.sum(-1, keepdims=True)).astype(np.float32)
