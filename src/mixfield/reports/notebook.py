"""A posterior in a notebook: a card with thumbnails and weights, and a figure with matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield.errors import MixfieldError
from mixfield.io.images import palette
from mixfield.mixture.posterior import MixturePosterior
from mixfield.reports.page import percent
from mixfield.reports.png import data_uri, grey_png, indexed_png, smaller
from mixfield.reports.segmentation import displayed

SIDE = 120  # pixels of a thumbnail
TINT = (0.0, 0.62, 1.0, 0.65)  # of label 1 on an image
FRAMED = f"height:{SIDE}px;image-rendering:pixelated;border:1px solid #8888"
MOST = 12  # modes that are shown


def card(posterior: MixturePosterior) -> str:
    """HTML with the modes of a posterior: a picture of each where the field has rows and columns, and its weight."""
    n, count = int(np.prod(posterior.shape)), len(posterior.modes)
    first = posterior.modes[0].labeling()
    cells = []
    for k, (weight, mode) in enumerate(zip(posterior.weights[:MOST], posterior.modes, strict=False), 1):
        picture = _thumbnail(mode.marginals)
        image = f'<img src="{picture}" alt="mode {k}" style="{FRAMED}">' if picture else ""
        differs = int((mode.labeling() != first).sum())
        cells.append(
            f'<div style="margin:0 12px 8px 0">{image}<div>mode {k}: <b>{percent(float(weight))}</b></div>'
            f'<div style="height:5px;width:{SIDE}px;background:#8884"><div style="height:5px;background:#3b82f6;'
            f'width:{100 * weight:.2f}%"></div></div><small>{f"{differs} differ" if k > 1 else "&nbsp;"}</small></div>'
        )
    more = f"<div>and {count - MOST} more</div>" if count > MOST else ""
    grey = "; white: label 1" if posterior.modes[0].marginals.shape[-1] == 2 and "<img" in cells[0] else ""
    said = "".join(f"<div>{escape(note)}</div>" for note in posterior.notes)
    return (
        f"<div><div><b>MixturePosterior</b>: {count} mode{'s' * (count > 1)} of {n} variables, "
        f"log Z~ = {posterior.log_z:.4f}{grey}</div>"
        f'<div style="display:flex;flex-wrap:wrap;margin-top:6px">{"".join(cells)}{more}</div>{said}</div>'
    )


def _thumbnail(marginals: NDArray[np.float64]) -> str:
    """A picture of a field with rows and columns: grey for two labels, colours for more; nothing for other fields."""
    if marginals.ndim != 3 or min(marginals.shape[:2]) < 2 or marginals.shape[-1] > 256:
        return ""
    if marginals.shape[-1] <= 2:
        return data_uri(grey_png(smaller(np.rint(255 * marginals[..., -1]).astype(np.uint8), SIDE)))
    return data_uri(indexed_png(smaller(marginals.argmax(-1).astype(np.uint8), SIDE), palette()))


def plot(posterior: MixturePosterior, image: ArrayLike | None = None, axes: Sequence[Any] | None = None) -> Any:
    """Draw the modes of a posterior; see `MixturePosterior.plot`."""
    if len(posterior.shape) > 2:
        raise MixfieldError(f"plot draws fields of one or two dimensions, got shape {posterior.shape}")
    try:
        from matplotlib import pyplot
    except ImportError:
        raise MixfieldError("plot needs matplotlib: pip install 'mixfield[plot]'") from None
    count = len(posterior.modes)
    if axes is None:
        _, grid = pyplot.subplots(1, count, figsize=(3.2 * count, 3.4), squeeze=False, layout="constrained")
        axes = list(grid[0])
    if len(axes) < count:
        raise MixfieldError(f"axes must hold one per mode, {count}, got {len(axes)}")
    for k, (weight, mode, axis) in enumerate(zip(posterior.weights, posterior.modes, axes, strict=False), 1):
        _draw(axis, mode.marginals, None if image is None else displayed(image))
        axis.set_title(f"mode {k}: {percent(float(weight))}")
    return axes[0].figure


def _draw(axis: Any, marginals: NDArray[np.float64], photo: NDArray[np.uint8] | None) -> None:
    """One mode on one axis: bars for a chain of variables, a map for rows and columns, an overlay on an image."""
    labels = marginals.shape[-1]
    if marginals.ndim == 2:
        axis.imshow(marginals.T, aspect="auto", vmin=0, vmax=1, cmap="Greys", origin="lower", interpolation="nearest")
        axis.set(xlabel="variable", ylabel="label", yticks=range(labels))
        return
    if photo is not None:
        axis.imshow(photo)
    if labels == 2 and photo is None:
        axis.imshow(marginals[..., 1], vmin=0, vmax=1, cmap="Greys_r", interpolation="nearest")
    elif labels == 2:
        tint = np.empty((*marginals.shape[:2], 4))
        tint[...] = TINT
        tint[..., 3] *= marginals[..., 1]
        axis.imshow(tint, interpolation="nearest")
    else:
        axis.imshow(palette()[marginals.argmax(-1)], alpha=None if photo is None else 0.6, interpolation="nearest")
    if photo is None:
        axis.set(xticks=[], yticks=[])  # a frame around what may be as white as the paper
    else:
        axis.set_axis_off()
