"""The colors of figures and pages, as red, green and blue from 0 to 255.

Pages style text and controls with the variables of ``static/page.css``.  Label maps in files have PASCAL's colors, see
`mixfield.io.images.palette`; they are too dark on photographs, so pages draw labels in `label_colors`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Color = tuple[int, int, int]

INK, GREY, PAPER = (27, 27, 31), (85, 85, 94), (255, 255, 255)  # text, notes, background
BLUE = (0, 158, 255)
BACKGROUND_LABEL = (0, 0, 0)
LABELS: tuple[Color, ...] = (
    BLUE,
    (255, 145, 0),
    (0, 200, 120),
    (232, 80, 200),
    (250, 225, 40),
    (150, 110, 255),
    (255, 90, 90),
    (0, 215, 215),
    (170, 120, 60),
    (150, 220, 60),
    (255, 170, 200),
    (110, 140, 180),
    (140, 20, 60),
    (20, 70, 190),
    (255, 205, 150),
    (90, 40, 150),
    (10, 110, 60),
    (205, 205, 220),
    (120, 130, 20),
    (0, 105, 120),
)
SCRIBBLES: tuple[Color, ...] = (
    (40, 110, 255),
    (255, 221, 0),
    (0, 200, 120),
    (255, 90, 160),
    (255, 140, 0),
    (160, 110, 255),
)
MODES: tuple[Color, ...] = (
    (230, 97, 1),
    (0, 114, 178),
    (0, 158, 115),
    (204, 121, 167),
    (240, 200, 30),
    (86, 180, 233),
    (150, 80, 30),
)
SAME, CHANGED, GROUP = (128, 128, 128), (255, 106, 0), (0, 229, 255)  # pixels of two modes, and those of a cut
RAMP: tuple[Color, ...] = ((12, 8, 38), (87, 16, 110), (188, 55, 84), (249, 142, 9), (252, 255, 164))  # dark to bright
IN_ALL_MODES, IN_THIS_MODE, IN_OTHER_MODES = (80, 200, 90), (255, 120, 40), (190, 190, 190)  # people


def label_colors() -> NDArray[np.uint8]:
    """(256, 3) colors of labels on a photograph: black for label 0, then the twenty of `LABELS` in turn."""
    return np.array([BACKGROUND_LABEL, *(LABELS[k % len(LABELS)] for k in range(255))], np.uint8)


def ramp(values: NDArray[np.float64]) -> NDArray[np.uint8]:
    """(..., 3) colors from dark to bright of numbers from 0 to 1."""
    stops = np.linspace(0, 1, len(RAMP))
    return np.stack([np.interp(values, stops, channel) for channel in zip(*RAMP, strict=True)], -1).astype(np.uint8)


def hex_color(color: Color) -> str:
    """A color as HTML and SVG write it."""
    return "#{:02x}{:02x}{:02x}".format(*color)
