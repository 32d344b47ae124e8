"""Grey maps in an SVG file."""

from __future__ import annotations

import base64
import io
import re
from xml.etree import ElementTree

import numpy as np
from page_reading import HOSTILE, escaped_count
from PIL import Image

from mixfield.reports.svg import Panel, figure


def test_maps_are_grey_levels_of_probabilities():
    values = np.array([[0.0, 0.5], [1.0, 2.0]])
    text = figure([Panel("a", values, "n"), Panel("b", values)], title="t", caption="c")
    ElementTree.fromstring(text)
    images = re.findall(r"base64,([^\"]*)", text)
    assert len(images) == 2
    levels = np.asarray(Image.open(io.BytesIO(base64.b64decode(images[0]))))
    assert levels.tolist() == [[0, 128], [255, 255]]


def test_texts_are_escaped():
    root = ElementTree.fromstring(figure([Panel("a<b", np.zeros((2, 2)), "&")], title="<t>", caption="'"))
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts == ["<t>", "'", "a<b", "&"]


def test_title_and_caption_are_escaped_in_the_description_too():
    text = figure([Panel(HOSTILE, np.zeros((2, 2)), HOSTILE)], title=HOSTILE, caption=HOSTILE)
    assert escaped_count(text) == 6  # title and caption stand in the drawing and in its description
