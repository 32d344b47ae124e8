"""Grey maps side by side in one SVG file, without a plotting library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import NDArray

from mixfield.reports.data_uri import png_uri
from mixfield.reports.palette import GREY, INK, LINE, PAPER, hex_color

SIDE, GAP, TOP, BOTTOM = 180, 24, 64, 84  # pixels of a map, between maps, above and below them


@dataclass(frozen=True)
class Panel:
    """A map of probabilities (H, W), black for 0 and white for 1, with a title above and a note below."""

    title: str
    map: NDArray[np.float64]
    note: str = ""


def figure(panels: Sequence[Panel], *, title: str, caption: str) -> str:
    """The panels in a row, as the text of an SVG file."""
    width, height = GAP + len(panels) * (SIDE + GAP), TOP + SIDE + BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="system-ui, sans-serif" role="img">',
        f"<title>{escape(title)}</title><desc>{escape(caption)}</desc>",
        f'<rect width="{width}" height="{height}" fill="{hex_color(PAPER)}"/>',
        f'<text x="{GAP}" y="28" font-size="17" font-weight="600" fill="{hex_color(INK)}">{escape(title)}</text>',
        f'<text x="{GAP}" y="{height - 16}" font-size="12.5" fill="{hex_color(GREY)}">{escape(caption)}</text>',
    ]
    for k, panel in enumerate(panels):
        parts += _panel(panel, GAP + k * (SIDE + GAP))
    return "\n".join([*parts, "</svg>", ""])


def _panel(panel: Panel, left: int) -> list[str]:
    levels = np.clip(np.rint(255 * panel.map), 0, 255).astype(np.uint8)
    return [
        f'<text x="{left}" y="{TOP - 10}" font-size="14" fill="{hex_color(INK)}">{escape(panel.title)}</text>',
        f'<image x="{left}" y="{TOP}" width="{SIDE}" height="{SIDE}" preserveAspectRatio="none" '
        f'style="image-rendering:pixelated" href="{png_uri(levels)}"/>',
        f'<rect x="{left}" y="{TOP}" width="{SIDE}" height="{SIDE}" fill="none" stroke="{hex_color(LINE)}"/>',
        f'<text x="{left}" y="{TOP + SIDE + 22}" font-size="13" fill="{hex_color(GREY)}">{escape(panel.note)}</text>',
    ]
