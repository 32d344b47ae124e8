"""Pictures of the images on which the best mode gains most."""

from __future__ import annotations

import pytest

from experiments.segmentation.pictures import write_pictures


def test_one_picture_per_set(photos, tmp_path):
    image_module = pytest.importorskip("PIL.Image")
    row = {"net": "dl513", "set": "voc", "method": "ours", "mean_field": 0.5, "step": 3}
    rows = [row | {"image": "one", "ious": [0.5, 0.6]}, row | {"image": "two", "ious": [0.5, 0.9]}]
    assert write_pictures(photos, rows, tmp_path / "out", net="dl513", count=2) == ["segmentation-voc.png"]
    with image_module.open(tmp_path / "out" / "segmentation-voc.png") as picture:
        assert picture.width >= 3 * 32
