"""Pages of saved results."""

from __future__ import annotations

import numpy as np
import pytest
from page_examples import random_posterior
from page_reading import facts_of
from PIL import Image

import mixfield as mf
from mixfield.errors import FileFormatError, MixfieldError
from mixfield.reports.results import report_page
from mixfield.reports.segmentation import write_segmentation


def test_a_segmentation_with_and_without_its_image(tmp_path):
    post, image = random_posterior()
    write_segmentation(tmp_path / "cat", image, post, np.full((6, 8), 0.5))
    (tmp_path / "cat" / "labels.txt").write_text("sky\nsea")
    facts = facts_of(report_page(tmp_path / "cat"))
    assert facts["doubt"]["maximum"] == 1.0
    assert [label["name"] for label in facts["labels"]] == ["sky", "sea", "label 2"]
    (tmp_path / "cat" / "image.png").unlink()
    assert 'data-kind="field"' in report_page(tmp_path / "cat")
    Image.fromarray(image).save(tmp_path / "photo.png")
    page = report_page(tmp_path / "cat" / "result.npz", image=tmp_path / "photo.png")
    assert 'data-kind="segmentation"' in page
    assert "<h1>photo.png</h1>" in page


def test_a_video(tmp_path):
    labels = np.zeros((4, 2, 6, 8), np.uint8)
    weights = np.tile([0.7, 0.3], (4, 1))
    weights[0] = [1, 0]
    images = np.zeros((4, 6, 8, 3), np.uint8)
    arrays = {"images": images, "mean_field": labels[:, 0], "modes": labels, "weights": weights}
    np.savez_compressed(tmp_path / "video.npz", chosen=[0, 1, 1, 0], numbers=[5, 6, 7, 8], **arrays)
    for result in (tmp_path, tmp_path / "video.npz"):
        frames = facts_of(report_page(result, frames=slice(0, 3)))["frames"]
        assert [frame["number"] for frame in frames] == [5, 6, 7]
        assert [len(frame["modes"]) for frame in frames] == [1, 2, 2]
    np.savez_compressed(tmp_path / "video.npz", **arrays)
    with pytest.raises(FileFormatError, match="lacks chosen"):
        report_page(tmp_path)


def test_a_folder_of_results_is_a_gallery(tmp_path):
    post, image = random_posterior()
    write_segmentation(tmp_path / "out" / "cat", image, post, np.zeros((6, 8)))
    page = report_page(tmp_path / "out")
    assert 'data-kind="gallery"' in page
    assert "<h2>cat</h2>" in page
    with pytest.raises(MixfieldError, match="and none of its folders does"):
        report_page(tmp_path)


def test_people_need_a_scene(tmp_path):
    walk = mf.datasets.walking_people(n_people=1, n_frames=1)
    mf.detect(walk.scene, list(walk.masks[0]), 1).save(tmp_path / "frame_000000.npz")
    with pytest.raises(MixfieldError, match="give the scene"):
        report_page(tmp_path)
    with pytest.raises(FileNotFoundError):
        report_page(tmp_path / "gone")
