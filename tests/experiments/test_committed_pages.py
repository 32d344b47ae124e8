"""The pages of ``docs/reproduction`` are those that the code writes from the numbers beside them."""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "reproduction"
NUMBER = re.compile(r"\d+\.\d+")
ARGUMENTS = {
    "segmentation": [["segmentation-voc.png", "segmentation-coco.png", "segmentation-vocval7.png"]],
}
PAGES = [
    "basins",
    "belief",
    "generic",
    "interactive",
    "learning",
    "motivation",
    "occupancy",
    "people",
    "segmentation",
    "synthetic",
    "temperature",
    "tracking",
    "uai",
    "video",
]


@pytest.mark.parametrize("name", PAGES)
def test_committed_page(name):
    """Equal up to the last digit: the numbers beside the page are rounded."""
    results = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    committed = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    written = importlib.import_module(f"experiments.{name}.page").page_text(results, *ARGUMENTS.get(name, []))
    assert _without_numbers(written) == _without_numbers(committed)
    numbers = [np.array(NUMBER.findall(text), float) for text in (written, committed)]
    np.testing.assert_allclose(*numbers, rtol=0, atol=0.0101)


def _without_numbers(text):
    return [line for line in NUMBER.sub("0.0", text).splitlines() if line]
