"""The page of a large segmentation: tiles inside or beside it, questions in a table."""

from __future__ import annotations

import numpy as np
import pytest
from large_images import SMALL, several_blocks
from page_reading import facts_of

import mixfield as mf
from mixfield.errors import MixfieldError
from mixfield.large.page import write_large_page


@pytest.fixture
def segmented(tmp_path):
    image, scores = several_blocks((300, 280), seed=3)
    np.save(tmp_path / "image.npy", image)
    np.save(tmp_path / "scores.npy", scores)
    files = tmp_path / "image.npy", tmp_path / "scores.npy", tmp_path / "labels.npy"
    mf.segment_large(*files, n_modes=2, kernels=SMALL, block=160, progress=False)
    return tmp_path / "labels.npy.blocks"


def test_few_tiles_are_in_the_page(segmented, tmp_path):
    assert write_large_page(segmented, tmp_path / "a.html") == [tmp_path / "a.html"]
    text = (tmp_path / "a.html").read_text()
    facts = facts_of(text)
    assert set(facts["tiles"]) == {"0/0_0", "1/0_0", "1/0_1", "1/1_0", "1/1_1"}
    assert all(uri.startswith("data:image/") for uri in facts["tiles"].values())
    assert "file:" not in text.partition("<title>")[0]
    assert "280 x 300 pixels in 4 blocks" in text


def test_many_tiles_are_in_a_folder(segmented, tmp_path):
    written = write_large_page(segmented, tmp_path / "a.html", in_page=2, title="<x>")
    assert written == [tmp_path / "a.html", tmp_path / "a_tiles"]
    assert len(list((tmp_path / "a_tiles").rglob("*.png"))) == 5
    text = (tmp_path / "a.html").read_text()
    assert facts_of(text)["tiles"] == "a_tiles"
    assert "<h1>&lt;x&gt;</h1>" in text
    assert "shows the folder a_tiles" in text


def test_labels_alone_if_the_image_is_gone(segmented, tmp_path):
    (tmp_path / "image.npy").unlink()
    write_large_page(segmented, tmp_path / "a.html")
    assert "data:image/" in (tmp_path / "a.html").read_text()


def test_a_damaged_summary_is_refused(segmented, tmp_path):
    (segmented / "large.json").write_text("{}")
    with pytest.raises(MixfieldError, match="damaged"):
        write_large_page(segmented, tmp_path / "a.html")
