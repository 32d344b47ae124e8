"""Images side by side in one image file, with titles and a legend, drawn by Pillow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield.io.images import pillow
from mixfield.reports.palette import GREY, INK, PAPER, Color

Image = NDArray[np.uint8]

SIDE, GAP, MIN_WIDTH = 380, 18, 250  # pixels of a panel, between panels, and least width of a panel
TITLE_SIZE, NOTE_SIZE = 17, 14
KEY_WIDTH, KEY_HEIGHT, KEY_SIDE = 120, NOTE_SIZE + 10, 14  # of an entry of the legend, and of its square
MARK_SIDE = 12


@dataclass(frozen=True)
class Panel:
    """An image (H, W, 3) with a title, a note below the title, and the color of a mark before the title or None."""

    title: str
    note: str
    picture: Image
    mark: Color | None = None


@dataclass(frozen=True)
class Key:
    """An entry of the legend: a color and its meaning."""

    color: Color
    name: str


def compose(panels: Sequence[Panel], *, columns: int, keys: Sequence[Key] = ()) -> Any:
    """The panels in rows of ``columns`` with the legend below, as a Pillow image."""
    from PIL import ImageDraw

    height, width = panels[0].picture.shape[:2]
    scale = SIDE / max(height, width)
    size = max(1, round(width * scale)), max(1, round(height * scale))
    cell_width, cell_height = max(size[0], MIN_WIDTH) + GAP, size[1] + GAP + TITLE_SIZE + NOTE_SIZE + 16
    rows, keys_per_row = -(-len(panels) // columns), max(1, (columns * cell_width) // KEY_WIDTH)
    legend_height = -(-len(keys) // keys_per_row) * KEY_HEIGHT
    page = pillow().new("RGB", (GAP + columns * cell_width, GAP + rows * cell_height + legend_height), PAPER)
    draw = ImageDraw.Draw(page)
    for k, panel in enumerate(panels):
        left, top = GAP + k % columns * cell_width, GAP + k // columns * cell_height
        _draw_heading(draw, panel, left, top)
        page.paste(_scaled(panel.picture, size), (left, top + TITLE_SIZE + NOTE_SIZE + 12))
    for k, key in enumerate(keys):
        left, row = GAP + k % keys_per_row * KEY_WIDTH, k // keys_per_row
        _draw_key(draw, key, left, rows * cell_height + GAP // 2 + row * KEY_HEIGHT)
    return page


def _draw_heading(draw: Any, panel: Panel, left: int, top: int) -> None:
    indent = 0
    if panel.mark is not None:
        draw.rectangle((left, top + 3, left + MARK_SIDE, top + 3 + MARK_SIDE), fill=panel.mark)
        indent = MARK_SIDE + 7
    draw.text((left + indent, top - 2), panel.title, INK, _font(TITLE_SIZE))
    draw.text((left, top + TITLE_SIZE + 4), panel.note, GREY, _font(NOTE_SIZE))


def _draw_key(draw: Any, key: Key, left: int, top: int) -> None:
    draw.rectangle((left, top + 2, left + KEY_SIDE, top + 2 + KEY_SIDE), fill=key.color, outline=GREY)
    draw.text((left + KEY_SIDE + 8, top), key.name, GREY, _font(NOTE_SIZE))


def _font(size: int) -> Any:
    from PIL import ImageFont

    return ImageFont.load_default(size)


def _scaled(picture: Image, size: tuple[int, int]) -> Any:
    """A Pillow image of another size: pixels are repeated in enlargements and averaged in reductions."""
    image = pillow()
    enlarged = size[0] > picture.shape[1]
    return image.fromarray(picture).resize(size, image.Resampling.NEAREST if enlarged else image.Resampling.BOX)
