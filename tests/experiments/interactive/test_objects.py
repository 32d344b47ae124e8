"""One object of each image, and the scores of its class."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.interactive import tasks
from experiments.interactive.objects import classes_of, kept_objects, largest_class, object_names, read_object


def test_largest_class_is_no_background():
    assert largest_class(np.array([0, 0, 0, 5, 5, 7, 255, 255, 255])) == 5


def test_classes_of_a_reasonable_size():
    truth = np.zeros((100, 100), np.int64)
    truth[:10], truth[10:12, :40], truth[20:22], truth[-1] = 3, 4, 5, 255
    assert classes_of(truth) == [3, 5]


@pytest.fixture
def folder(tmp_path):
    image_module = pytest.importorskip("PIL.Image")
    rng = np.random.default_rng(0)
    for name in ("voc", "coco", "vocval7"):
        root = tmp_path / "segmentation" / name
        for kind in ("img", "gt"):
            (root / kind).mkdir(parents=True)
        for k, size in enumerate((10, 1)):  # the second object is too small
            truth = np.zeros((20, 30), np.uint8)
            truth[:size, : size + 5], truth[-1] = 3, 255
            truth[-4:-1, :5] = 7 if size > 1 else 0
            image_module.fromarray(truth).save(root / "gt" / f"{k}.png")
            image_module.fromarray(rng.integers(0, 255, (20, 30, 3), np.uint8)).save(root / "img" / f"{k}.jpg")
        logits = rng.standard_normal((2, 21, 5, 5))
        np.savez(root / "unary_dl513.npz", logits=logits, names=["0", "1"], hw=[[342, 513]] * 2)
        np.savez(root / "unary_dl257.npz", logits=logits, names=["0", "1"])
    return tmp_path


def test_objects_of_a_reasonable_size(folder):
    assert object_names(folder) == ["voc/0", "coco/0"]
    photo = read_object(folder, "voc/0", "dl257")
    assert (photo.truth == 1).sum() == 150
    assert (photo.truth == 255).sum() == 30
    np.testing.assert_allclose(photo.scores.sum(-1), 1, rtol=1e-5)


def test_objects_that_judge_were_not_fitted(folder):
    judged = {task[1] for task in tasks.objects(folder).values()}
    fitted = {task[1] for task in tasks.fits(folder).values()}
    assert judged == {"voc/0"}
    assert fitted == {"coco/0"}


def test_kept_objects_are_all_classes_of_images_without_choices(folder):
    assert kept_objects(folder) == ["vocval7/0", "vocval7/0/7"]  # the first of the judged images had a part in choices
    photo = read_object(folder, "vocval7/0/7")
    assert photo.name == "vocval7/0/7"
    assert (photo.truth == 1).sum() == 15
    assert {task[1] for task in tasks.kept(folder).values()} == set(kept_objects(folder))
