"""Folders of images, scores and true labels."""

from __future__ import annotations

import pytest

from mixfield.errors import MixfieldError
from mixfield.io.folders import annotated, pairs


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


def test_annotated_images_are_matched(tmp_path):
    for name, file in (("images", "a.png"), ("scores", "a.npy"), ("truth", "a.png")):
        (tmp_path / name).mkdir()
        (tmp_path / name / file).touch()
    ((image, scores, truth),) = annotated(tmp_path)
    assert (image, scores) == (tmp_path / "images" / "a.png", tmp_path / "scores" / "a.npy")
    assert truth == tmp_path / "truth" / "a.png"
    truth.rename(tmp_path / "truth" / "b.png")
    with pytest.raises(MixfieldError, match=r"a\.png: no labels a\.png in truth"):
        annotated(tmp_path)
