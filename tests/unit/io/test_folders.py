"""Folders of images, scores and true labels."""

from __future__ import annotations

import numpy as np
import pytest

from mixfield.errors import MixfieldError
from mixfield.io.folders import annotated, pairs
from mixfield.io.images import write_grey, write_label_map


def test_folders_are_matched_by_stem(tmp_path):
    for folder, names in {"im": ["a.jpg", "b.png", "c.png", "c.jpg", "n.txt"], "sc": ["a.npy", "c.npy"]}.items():
        (tmp_path / folder).mkdir()
        for name in names:
            (tmp_path / folder / name).touch()
    found, wrong = pairs(tmp_path / "im", tmp_path / "sc")
    assert [(i.name, s.name) for i, s in found] == [("a.jpg", "a.npy")]
    assert set(wrong) == {"b.png", "c.png", "c.jpg"}
    assert "no scores b.npy" in wrong["b.png"]
    (tmp_path / "sc" / "a.npz").touch()
    with pytest.raises(MixfieldError, match="several scores are called a"):
        pairs(tmp_path / "im", tmp_path / "sc")
    with pytest.raises(MixfieldError, match="images is missing"):
        annotated(tmp_path)
    with pytest.raises(MixfieldError, match="must be a folder"):
        pairs(tmp_path / "im", tmp_path / "sc" / "a.npy")


def test_annotated_images_are_read(tmp_path):
    for name in ("images", "scores", "truth"):
        (tmp_path / name).mkdir()
    write_grey(tmp_path / "images" / "a.png", np.full((4, 5), 0.2))
    np.save(tmp_path / "scores" / "a.npy", np.full((4, 5, 2), 0.5))
    write_label_map(tmp_path / "truth" / "a.png", np.ones((4, 5), int))
    names, examples = annotated(tmp_path)
    ((image, scores, truth),) = examples
    assert (names, image.shape, scores.shape) == (["a.png"], (4, 5), (4, 5, 2))
    assert truth.tolist() == np.ones((4, 5)).tolist()
    (tmp_path / "truth" / "a.png").rename(tmp_path / "truth" / "b.png")
    with pytest.raises(MixfieldError, match=r"a\.png: no labels a\.png in truth"):
        annotated(tmp_path)
