"""Boxes of people in the XML format of the PETS 2009 annotations (CVML)."""

from __future__ import annotations

import os
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from mixfield.errors import FileFormatError
from mixfield.io.documents import read_xml

StrPath = str | os.PathLike[str]


def read_cvml(path: StrPath) -> dict[int, NDArray[np.float64]]:
    """Read annotations: frame number to (k, 5) rows of identity, left, top, width and height."""
    frames = {}
    try:
        for frame in read_xml(path).iter("frame"):
            boxes = _boxes(frame, path)
            frames[int(frame.attrib["number"])] = boxes
    except FileFormatError:
        raise
    except KeyError as error:
        raise FileFormatError(f"{path} lacks the attribute {error}") from None
    except ValueError as error:
        raise FileFormatError(f"{path}: numbers are needed: {error}") from None
    return frames


def _boxes(frame: Element, path: StrPath) -> NDArray[np.float64]:
    rows = []
    for item in frame.iter("object"):
        box = item.find("box")
        if box is None:
            raise FileFormatError(f"{path}: object {item.get('id')} of frame {frame.get('number')} has no box")
        width, height, x, y = (float(box.attrib[name]) for name in ("w", "h", "xc", "yc"))
        rows.append((float(item.attrib["id"]), x - width / 2, y - height / 2, width, height))
    return np.array(rows).reshape(-1, 5)
