"""What is sent to the page."""

from __future__ import annotations

import base64
import io
import json

import numpy as np
import pytest
from annotating import doubtful_click, opened, photograph
from PIL import Image

from mixfield.annotate import image_state as module
from mixfield.annotate.image_state import answer_state, folder_state, image_state, picture_file


def pixels(uri):
    """Indices of a PNG in a data URI."""
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(uri.split(",")[1]))))


@pytest.fixture
def folder(tmp_path):
    made = opened(tmp_path)
    x, y = doubtful_click()
    made.open(0).perform({"kind": "click", "x": x, "y": y, "label": 1})
    return made


def test_an_image(folder):
    state = image_state(folder, 0)
    annotation = folder.open(0).annotation
    np.testing.assert_array_equal(pixels(state["labels"]), annotation.labels())
    np.testing.assert_array_equal(pixels(state["question"]["mask"]) == 1, annotation.question().region)
    assert state["question"]["text"] == annotation.question().text
    suggestions = annotation.suggest()
    for one, wanted in zip(state["suggestions"], suggestions, strict=True):
        np.testing.assert_array_equal(pixels(one["labels"]), wanted.labels)
        np.testing.assert_array_equal(pixels(one["mask"]) == 1, wanted.differs)
        assert (one["weight"], one["differs"]) == (wanted.weight, wanted.differs.mean())
    assert [one["shown"] for one in state["suggestions"]][:2] == [True, False]
    assert (state["width"], state["height"], state["step"], state["actions"]) == (128, 128, 1, 1)
    assert [stroke["label"] for stroke in state["strokes"]] == [1]
    assert 0 < state["doubt"] == folder.doubt(0) < 1
    json.dumps(state)


def test_the_answer_comes_first(folder):
    answer, state = answer_state(folder, 0), image_state(folder, 0)
    assert state.keys() - answer.keys() == {"doubt", "suggestions", "question"}
    assert answer == {name: state[name] for name in answer}


def test_a_blank_image(folder):
    state = image_state(folder, 1)
    assert (state["suggestions"], state["question"], state["strokes"]) == ([], None, [])


def test_large_label_maps_are_subsampled(folder, monkeypatch):
    monkeypatch.setattr(module, "MAX_SIDE", 50)
    state = image_state(folder, 0)
    assert state["step"] == 3
    np.testing.assert_array_equal(pixels(state["labels"]), folder.open(0).annotation.labels()[::3, ::3])


def test_the_folder(folder):
    folder.mark_done(2, True)
    state = folder_state(folder)
    assert [(image["name"], image["started"], image["done"]) for image in state["images"]] == [
        ("a.png", True, False),
        ("b.png", False, False),
        ("c.png", False, True),
    ]
    assert state["labels"][1] == {"name": "astronaut", "color": "#009eff"}
    assert state["next"] == 1


@pytest.mark.parametrize("image", [photograph(), photograph()[..., 0], photograph().astype(np.uint16) * 257], ids=str)
def test_pictures_for_browsers(image):
    shown = np.asarray(Image.open(io.BytesIO(picture_file(image))).convert("RGB")).astype(float)
    expected = np.broadcast_to(np.atleast_3d(image / (257 if image.dtype == np.uint16 else 1)), (128, 128, 3))
    assert np.abs(shown - expected).mean() < 8
