"""The protocol on a drawn photograph."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.interactive import measure
from experiments.interactive.annotator import PerfectAnnotator, no_strokes
from experiments.interactive.methods import METHODS, Redrawn, installed
from experiments.interactive.photographs import StrokedPhoto, photo_names, read_photo
from mixfield.errors import MixfieldError


def photo():
    truth = np.zeros((40, 60), np.int64)
    truth[10:30, 15:45] = 1
    image = np.where(truth[..., None] == 1, [200, 60, 40], [40, 90, 160]).astype(np.uint8)
    strokes = np.full(truth.shape, -1)
    strokes[20, 20:40], strokes[3, 5:50] = 1, 0
    return StrokedPhoto("drawn", image, truth, {"sparse": strokes, "rich": strokes})


@pytest.fixture
def folder(tmp_path):
    image_module = pytest.importorskip("PIL.Image")
    one, root = photo(), tmp_path / "interactive"
    for name in ("img", "gt", "scribbles_sparse", "scribbles_rich"):
        (root / name).mkdir(parents=True)
    image_module.fromarray(one.image).save(root / "img" / "drawn.jpg", quality=98)
    image_module.fromarray((255 * one.truth).astype(np.uint8)).save(root / "gt" / "drawn.png")
    codes = np.array([2, 1, 0], np.uint8)[one.strokes["sparse"]]  # index -1 is the last
    for kind in ("sparse", "rich"):
        image_module.fromarray(codes).save(root / f"scribbles_{kind}" / "drawn.png")
    return tmp_path


def test_read_photo(folder):
    found = read_photo(folder, *photo_names(folder))
    np.testing.assert_array_equal(found.truth, photo().truth)
    np.testing.assert_array_equal(found.strokes["rich"], photo().strokes["rich"])


def test_no_data_is_said(tmp_path):
    with pytest.raises(MixfieldError, match="--data"):
        photo_names(tmp_path)


def test_clicks_until_the_answer_is_good():
    answers = iter([np.ones((1, 40, 60), int), photo().truth[None]])
    seen = []

    def session(strokes):
        seen.append(strokes.copy())
        return next(answers)

    found = measure.follow(Redrawn(session, no_strokes(photo().truth)), photo(), PerfectAnnotator())
    assert found["ious"] == [0.25, 1.0]
    assert (seen[1] >= 0).sum() > (seen[0] >= 0).sum() > 0


def test_clicks_to():
    assert measure.clicks_to([0.5, 0.86, 0.84, 0.9], 0.85) == 2
    assert measure.clicks_to([0.5], 0.85) == measure.MOST_CLICKS


@pytest.mark.parametrize("method", METHODS)
def test_every_method_answers(method, folder):
    pytest.importorskip("skimage")
    pytest.importorskip("cv2")
    if method not in installed():
        pytest.skip("needs PyMaxflow")
    row = measure.measure(folder, "drawn", method, "perfect")
    assert row["strokes"]["sparse"]["ious"][0] > 0
    assert 1 <= len(row["clicks"]["ious"]) == len(row["clicks"]["seconds"]) <= measure.MOST_CLICKS
