"""The page of a large segmentation: tiles in it or beside it are drawn, moved, magnified, and questions framed."""

from __future__ import annotations

import io

import numpy as np
import pytest
from browsing import AUDIT
from large_images import several_blocks
from PIL import Image

import mixfield as mf
from mixfield.large.page import write_large_page

CARD = (244, 244, 247)  # colour of the empty canvas, --card of page.css


@pytest.fixture
def folder(tmp_path):
    image, scores = several_blocks((300, 500), seed=3)
    kernels = mf.Kernels(3.0, 3.0, 8.0, 20.0, 4.0)
    mf.segment_large(image, scores, tmp_path / "a.npy", 3, kernels=kernels, block=160, progress=False)
    return tmp_path / "a.npy.blocks"


def settled(page):
    """Share of the canvas that is painted, and a picture of it, when all tiles are there."""
    page.wait_for_timeout(300)
    picture = page.locator("#view").screenshot()  # not getImageData, which browsers refuse for tiles of a folder
    pixels = np.asarray(Image.open(io.BytesIO(picture)).convert("RGB"))
    return (pixels != CARD).any(-1).mean(), picture


@pytest.mark.parametrize("in_page", [100, 1])
def test_tiles_are_drawn_moved_and_magnified(open_page, folder, tmp_path, in_page):
    written = write_large_page(folder, tmp_path / "page.html", in_page=in_page)
    assert len(written) == (1 if in_page > 1 else 2)
    page = open_page((tmp_path / "page.html").read_text())
    share, first = settled(page)
    assert share == pytest.approx(1.0, abs=0.03)  # 500 x 300 pixels fill a view of 1200 x 720
    page.locator("#view").press("+")
    _, magnified = settled(page)
    page.locator("#view").press("ArrowRight")
    _, moved = settled(page)
    assert len({first, magnified, moved}) == 3
    assert page.evaluate(AUDIT) == []


def test_a_row_of_the_table_frames_its_question(open_page, folder, tmp_path):
    write_large_page(folder, tmp_path / "page.html")
    page = open_page((tmp_path / "page.html").read_text())
    before = settled(page)
    page.locator("tbody tr").first.click()
    assert settled(page) != before
