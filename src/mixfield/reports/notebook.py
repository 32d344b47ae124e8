"""A posterior in a notebook: an HTML card with thumbnails and weights, and a figure by Matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield.apps.questions import questions
from mixfield.errors import MixfieldError
from mixfield.io.images import pascal_palette
from mixfield.mixture.posterior import MixturePosterior
from mixfield.reports.about import ONE_HOT, two_probabilities, weight_text
from mixfield.reports.data_uri import png_uri, subsampled
from mixfield.reports.page import percent
from mixfield.reports.palette import BLUE, hex_color
from mixfield.reports.segmentation_figure import displayed

Floats = NDArray[np.float64]

THUMBNAIL_SIDE = 120  # pixels
THUMBNAIL_STYLE = f"height:{THUMBNAIL_SIDE}px;image-rendering:pixelated;border:1px solid #8888"
BAR_STYLE = f"height:5px;width:{THUMBNAIL_SIDE}px;background:#8884"
MAX_MODES = 12  # on a card
OPACITY, LABELS_OPACITY = 0.65, 0.6  # over an image: of label 1 of two labels, and of the colors of more


def card(posterior: MixturePosterior) -> str:
    """HTML with the weight of each mode, and an image of it where the field has two axes."""
    n, count = int(np.prod(posterior.shape)), len(posterior.modes)
    first = posterior.modes[0].labeling()
    thumbnails = [_thumbnail(mode.marginals) for mode in posterior.modes[:MAX_MODES]]
    captions = {question.mode: question.caption() for question in questions(posterior)}
    cells = [
        _cell(k, thumbnail, float(posterior.weights[k]), captions.get(k, _difference(posterior, k, first)))
        for k, thumbnail in enumerate(thumbnails)
    ]
    more = f"<div>and {count - MAX_MODES} more</div>" if count > MAX_MODES else ""
    is_grey = thumbnails[0] and posterior.modes[0].marginals.shape[-1] == 2
    explained = two_probabilities(posterior.calibration is not None, count)
    notes = "".join(f"<div>{escape(note)}</div>" for note in (*posterior.notes, explained) if note)
    return (
        f"<div><div><b>MixturePosterior</b>: {count} mode{'s' * (count > 1)} of {n} variables"
        f"{'; white: label 1' if is_grey else ''}</div>"
        f'<div style="display:flex;flex-wrap:wrap;margin-top:6px">{"".join(cells)}{more}</div>{notes}'
        f"{_bounds(posterior)}</div>"
    )


def _difference(posterior: MixturePosterior, k: int, first: NDArray[np.int64]) -> str:
    """What the cell of a mode says that is no question."""
    if k == 0:
        return "" if posterior.calibration is None else "mean field"
    return f"{int((posterior.modes[k].labeling() != first).sum())} differ"


def _bounds(posterior: MixturePosterior) -> str:
    """The bounds in nats, on demand."""
    best = posterior.modes[0].log_z
    behind = ", ".join(f"{best - mode.log_z:.2f}" for mode in posterior.modes[:MAX_MODES])
    one_hot = f" {ONE_HOT}" if posterior.is_one_hot else ""
    return (
        f"<details><summary>log Z~ = {posterior.log_z:.4f}</summary>Nats below mode 1, by mode: {behind}.{one_hot}"
        "</details>"
    )


def _cell(k: int, thumbnail: str, weight: float, about: str) -> str:
    image = f'<img src="{thumbnail}" alt="mode {k + 1}" style="{THUMBNAIL_STYLE}">' if thumbnail else ""
    bar = f'<div style="height:5px;background:{hex_color(BLUE)};width:{100 * weight:.2f}%"></div>'
    return (
        f'<div style="margin:0 12px 8px 0">{image}<div>mode {k + 1}: <b>{percent(weight)}</b></div>'
        f'<div style="{BAR_STYLE}">{bar}</div><small>{escape(about) or "&nbsp;"}</small></div>'
    )


def _thumbnail(marginals: Floats) -> str:
    """The data URI of a field (H, W, L): grey for two labels, colors for more; empty for other fields."""
    if marginals.ndim != 3 or min(marginals.shape[:2]) < 2 or marginals.shape[-1] > 256:
        return ""
    if marginals.shape[-1] <= 2:
        return png_uri(subsampled(np.rint(255 * marginals[..., -1]).astype(np.uint8), THUMBNAIL_SIDE))
    return png_uri(subsampled(marginals.argmax(-1).astype(np.uint8), THUMBNAIL_SIDE), pascal_palette())


def pyplot() -> Any:
    """The module ``matplotlib.pyplot``, or a `MixfieldError` that names the extra to install."""
    try:
        from matplotlib import pyplot
    except ImportError:
        raise MixfieldError("figures need matplotlib: pip install 'mixfield[plot]'") from None
    return pyplot


def plot(posterior: MixturePosterior, image: ArrayLike | None = None, axes: Sequence[Any] | None = None) -> Any:
    """Draw the modes of a posterior; see `MixturePosterior.plot`."""
    if len(posterior.shape) > 2:
        raise MixfieldError(f"plot draws fields of one or two dimensions, got shape {posterior.shape}")
    count, plt = len(posterior.modes), pyplot()
    if axes is None:
        _, grid = plt.subplots(1, count, figsize=(3.2 * count, 3.4), squeeze=False, layout="constrained")
        axes = list(grid[0])
    if len(axes) < count:
        raise MixfieldError(f"axes must hold one per mode, {count}, got {len(axes)}")
    photo = None if image is None else displayed(image)
    captions = {question.mode: question.caption() for question in questions(posterior)}
    for k, (mode, axis) in enumerate(zip(posterior.modes, axes, strict=False)):
        _draw(axis, mode.marginals, photo)
        axis.set_title(f"mode {k + 1}: {weight_text(posterior, k)}" + (f"\n{captions[k]}" if k in captions else ""))
    return axes[0].figure


def _draw(axis: Any, marginals: Floats, photo: NDArray[np.uint8] | None) -> None:
    """Draw a mode: (n, L) as a map of variables and labels, (H, W, L) as an image, over the photo if there is one."""
    if marginals.ndim == 2:
        axis.imshow(marginals.T, aspect="auto", vmin=0, vmax=1, cmap="Greys", origin="lower", interpolation="nearest")
        axis.set(xlabel="variable", ylabel="label", yticks=range(marginals.shape[-1]))
    elif photo is None:
        _draw_map(axis, marginals)
        axis.set(xticks=[], yticks=[])  # with a frame: the map may be as white as the paper
    else:
        axis.imshow(photo)
        _draw_over(axis, marginals)
        axis.set_axis_off()


def _draw_map(axis: Any, marginals: Floats) -> None:
    if marginals.shape[-1] == 2:
        axis.imshow(marginals[..., 1], vmin=0, vmax=1, cmap="Greys_r", interpolation="nearest")
    else:
        axis.imshow(pascal_palette()[marginals.argmax(-1)], interpolation="nearest")


def _draw_over(axis: Any, marginals: Floats) -> None:
    if marginals.shape[-1] == 2:
        tint = np.empty((*marginals.shape[:2], 4))
        tint[..., :3] = np.array(BLUE) / 255
        tint[..., 3] = OPACITY * marginals[..., 1]
        axis.imshow(tint, interpolation="nearest")
    else:
        axis.imshow(pascal_palette()[marginals.argmax(-1)], alpha=LABELS_OPACITY, interpolation="nearest")
