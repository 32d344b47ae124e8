"""Pictures side by side in one image file, with titles, by Pillow alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield.io.images import pillow

Colours = NDArray[np.uint8]
Colour = tuple[int, int, int]

SIDE, GAP, TEXT, NOTE = 380, 18, 17, 14
INK, GREY, PAPER = (27, 27, 31), (95, 95, 104), (255, 255, 255)


@dataclass(frozen=True)
class Panel:
    """A picture (H, W, 3) with a title, a line below the title, and the colour of a mark before the title."""

    title: str
    note: str
    picture: Colours
    mark: Colour | None = None


@dataclass(frozen=True)
class Key:
    """A colour and what it stands for."""

    colour: Colour
    name: str


def compose(panels: Sequence[Panel], *, columns: int, keys: Sequence[Key] = ()) -> Any:
    """The panels in rows of ``columns`` and the meaning of the colours below, as a Pillow image."""
    from PIL import ImageDraw, ImageFont

    height, width = panels[0].picture.shape[:2]
    scale = SIDE / max(height, width)
    wide, high = max(1, round(width * scale)), max(1, round(height * scale))
    cell_wide, cell_high = max(wide, 250) + GAP, high + GAP + TEXT + NOTE + 16
    rows = -(-len(panels) // columns)
    per_row = max(1, (columns * cell_wide) // 120)
    legend = -(-len(keys) // per_row) * (NOTE + 10)
    page = pillow().new("RGB", (GAP + columns * cell_wide, GAP + rows * cell_high + legend), PAPER)
    draw = ImageDraw.Draw(page)
    title, note = ImageFont.load_default(TEXT), ImageFont.load_default(NOTE)
    for k, panel in enumerate(panels):
        left, top = GAP + k % columns * cell_wide, GAP + k // columns * cell_high
        indent = 0
        if panel.mark is not None:
            draw.rectangle((left, top + 3, left + 12, top + 15), fill=panel.mark)
            indent = 19
        draw.text((left + indent, top - 2), panel.title, INK, title)
        draw.text((left, top + TEXT + 4), panel.note, GREY, note)
        page.paste(_scaled(panel.picture, wide, high), (left, top + TEXT + NOTE + 12))
    for k, key in enumerate(keys):
        left, top = GAP + k % per_row * 120, rows * cell_high + GAP // 2 + k // per_row * (NOTE + 10)
        draw.rectangle((left, top + 2, left + 14, top + 16), fill=key.colour, outline=GREY)
        draw.text((left + 22, top), key.name, GREY, note)
    return page


def _scaled(picture: Colours, wide: int, high: int) -> Any:
    image = pillow()
    enlarged = wide > picture.shape[1]
    return image.fromarray(picture).resize((wide, high), image.Resampling.NEAREST if enlarged else image.Resampling.BOX)
