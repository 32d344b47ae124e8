"""Boxes of people in the XML format of the PETS 2009 annotations (CVML)."""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray

from mixfield.errors import FileFormatError
from mixfield.io.documents import read_xml

StrPath = str | os.PathLike[str]


def read_cvml(path: StrPath) -> dict[int, NDArray[np.float64]]:
    """Frame -> (k, 5) rows of identity, left, top, width, height."""
    root = read_xml(path)
    frames: dict[int, NDArray[np.float64]] = {}
    try:
        for frame in root.iter("frame"):
            rows = []
            for item in frame.iter("object"):
                box = item.find("box")
                if box is None:
                    raise FileFormatError(f"{path}: object {item.get('id')} of frame {frame.get('number')} has no box")
                wide, tall = float(box.attrib["w"]), float(box.attrib["h"])
                left, top = float(box.attrib["xc"]) - wide / 2, float(box.attrib["yc"]) - tall / 2
                rows.append((float(item.attrib["id"]), left, top, wide, tall))
            frames[int(frame.attrib["number"])] = np.array(rows).reshape(-1, 5)
    except KeyError as error:
        raise FileFormatError(f"{path} lacks the attribute {error}") from None
    except ValueError as error:
        if isinstance(error, FileFormatError):
            raise
        raise FileFormatError(f"{path}: numbers are needed: {error}") from None
    return frames
