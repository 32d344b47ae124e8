"""Small figures without a plotting library: grey maps side by side in one SVG file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import NDArray

from mixfield.reports.png import data_uri, grey_png

SIDE, GAP, TOP, BOTTOM = 180, 24, 64, 56


@dataclass(frozen=True)
class Panel:
    """A map of probabilities (H, W), black for 0 and white for 1, with a title and a line below it."""

    title: str
    map: NDArray[np.float64]
    note: str = ""


def figure(panels: Sequence[Panel], *, title: str, caption: str) -> str:
    """The panels in a row, as the text of an SVG file."""
    width = GAP + len(panels) * (SIDE + GAP)
    height = TOP + SIDE + BOTTOM + 28
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="system-ui, sans-serif" role="img">',
        f"<title>{escape(title)}</title><desc>{escape(caption)}</desc>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        f'<text x="{GAP}" y="28" font-size="17" font-weight="600" fill="#1b1b1f">{escape(title)}</text>',
        f'<text x="{GAP}" y="{height - 16}" font-size="12.5" fill="#55555e">{escape(caption)}</text>',
    ]
    for k, panel in enumerate(panels):
        left = GAP + k * (SIDE + GAP)
        parts += [
            f'<text x="{left}" y="{TOP - 10}" font-size="14" fill="#1b1b1f">{escape(panel.title)}</text>',
            f'<image x="{left}" y="{TOP}" width="{SIDE}" height="{SIDE}" preserveAspectRatio="none" '
            f'style="image-rendering:pixelated" href="{_data_uri(panel.map)}"/>',
            f'<rect x="{left}" y="{TOP}" width="{SIDE}" height="{SIDE}" fill="none" stroke="#b9b9c2"/>',
            f'<text x="{left}" y="{TOP + SIDE + 22}" font-size="13" fill="#55555e">{escape(panel.note)}</text>',
        ]
    return "\n".join([*parts, "</svg>", ""])


def _data_uri(values: NDArray[np.float64]) -> str:
    grey = np.clip(np.rint(255 * values), 0, 255).astype(np.uint8)
    return data_uri(grey_png(grey))
