"""Images, saved annotations, progress, and which image is next."""

from __future__ import annotations

import numpy as np
import pytest
from annotating import NAMES, opened, write_images, write_scores
from PIL import Image

from mixfield.annotate.folder import PROGRESS, AnnotationFolder
from mixfield.errors import FileFormatError, MixfieldError


def test_annotations_are_resumed(tmp_path):
    folder = opened(tmp_path)
    folder.open(1).perform({"kind": "click", "x": 60, "y": 80, "label": 1})
    folder.mark_done(1, True)
    again = opened(tmp_path)
    np.testing.assert_array_equal(again.open(1).annotation.labels(), folder.open(1).annotation.labels())
    assert [again.is_started(k) for k in range(3)] == [False, True, False]
    assert [again.is_done(k) for k in range(3)] == [False, True, False]
    again.mark_done(1, False)
    assert not opened(tmp_path).is_done(1)


def test_few_images_are_in_memory_and_none_is_lost(tmp_path):
    names = [f"{k}.png" for k in range(6)]
    folder = AnnotationFolder(write_images(tmp_path / "photos", names), NAMES, tmp_path / "saved")
    folder.open(0).perform({"kind": "click", "x": 60, "y": 80, "label": 1})
    assert folder.open(0) is folder.open(0)
    first = folder.open(0)
    for k in range(1, 6):
        folder.open(k)
    assert folder.open(0) is not first
    assert len(folder.open(0).annotation.actions) == 1


def test_the_largest_doubt_is_next(tmp_path):
    scores = write_scores(tmp_path / "scores", {"a": 0.99, "b": 0.6, "c": 0.9})
    folder = opened(tmp_path, scores=scores)
    assert folder.doubt(0) is None
    for k, doubt in enumerate([0.01, 0.2, 0.1]):
        folder.set_doubt(k, doubt)
    assert folder.next_image() == 1
    assert folder.next_image(1) == 2
    folder.mark_done(1, True)
    folder.mark_done(2, True)
    assert folder.next_image() == 0
    assert folder.next_image(0) is None


def test_images_of_which_nothing_is_known_come_first(tmp_path):
    folder = opened(tmp_path, scores=write_scores(tmp_path / "scores", {"a": 0.9}))
    folder.set_doubt(0, 0.5)
    assert folder.doubt(1) == 1.0
    assert folder.next_image() == 1


def test_a_mask_is_opened(tmp_path):
    mask = np.zeros((128, 128), np.uint8)
    mask[30:90, 40:100] = 1
    (tmp_path / "masks").mkdir()
    Image.fromarray(mask).save(tmp_path / "masks" / "a.png")
    labels = opened(tmp_path, scores=tmp_path / "masks").annotation(0).labels()
    assert ((labels == 1) == (mask == 1)).mean() > 0.9


def test_names_of_one_stem_and_hostile_ones(tmp_path):
    names = ["a.png", "a.jpg", "progress.png", "<b>.png", "x y'\".png"]
    folder = AnnotationFolder(write_images(tmp_path / "photos", names), NAMES, tmp_path / "saved")
    for k in range(len(names)):
        folder.open(k).perform({"kind": "click", "x": 3, "y": 3, "label": 0})
        folder.mark_done(k, True)
    assert all(folder.is_started(k) for k in range(len(names)))
    assert len(list((tmp_path / "saved").glob("*.json"))) == len(names) + 1


def test_other_labels_are_refused(tmp_path):
    opened(tmp_path).open(0).perform({"kind": "click", "x": 3, "y": 3, "label": 0})
    other = AnnotationFolder(tmp_path / "photos", ("sky", "earth"), tmp_path / "saved")
    with pytest.raises(MixfieldError, match=r"background, astronaut.*--out"):
        other.open(0)


def test_wrong_input(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(MixfieldError, match="no images"):
        AnnotationFolder(tmp_path / "empty", NAMES, tmp_path / "saved")
    for names in (("one",), ("a", "a"), ("a", ""), [str(k) for k in range(257)]):
        with pytest.raises(MixfieldError, match="2 to 256 different names"):
            AnnotationFolder(write_images(tmp_path / "photos"), names, tmp_path / "saved")
    write_scores(tmp_path / "scores", {"a": 0.9})
    Image.fromarray(np.zeros((128, 128), np.uint8)).save(tmp_path / "scores" / "a.png")
    with pytest.raises(MixfieldError, match="several scores are called a"):
        opened(tmp_path, scores=tmp_path / "scores")
    with pytest.raises(MixfieldError, match="0 to 2, got 3"):
        opened(tmp_path).open(3)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"format": "mixfield-annotate", "version": 2, "done": []}'])
def test_a_damaged_progress_is_not_overwritten(tmp_path, content):
    folder = opened(tmp_path)
    (tmp_path / "saved" / PROGRESS).write_text(content)
    with pytest.raises(FileFormatError, match="progress"):
        folder.mark_done(0, True)
    assert (tmp_path / "saved" / PROGRESS).read_text() == content
