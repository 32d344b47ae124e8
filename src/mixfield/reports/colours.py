"""Colours of labels for the eye: bright on photographs, where PASCAL's, which files have, are dark."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SHADOW = (0, 0, 0)  # of label 0
BRIGHT = (
    (0, 158, 255),
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
)


def bright() -> NDArray[np.uint8]:
    """(256, 3) colours: a shadow for label 0, then twelve that come again and again."""
    return np.array([SHADOW, *(BRIGHT[k % len(BRIGHT)] for k in range(255))], np.uint8)


def key(label: int, name: str) -> str:
    """An entry of a list of labels, as HTML; the name is escaped already."""
    colour = ",".join(map(str, bright()[label].tolist()))
    return f'<li><i style="background:rgb({colour})"></i>{name}</li>'
