"""Actions of the page on one image."""

from __future__ import annotations

import numpy as np
import pytest
from annotating import NAMES, doubtful_click, photograph

import mixfield as mf
from mixfield.annotate.open_image import OpenImage, StaleError
from mixfield.errors import MixfieldError


@pytest.fixture
def file(tmp_path):
    return tmp_path / "a.json"


@pytest.fixture
def image(file):
    x, y = doubtful_click()
    made = OpenImage(mf.Annotation(photograph(), NAMES), file)
    made.perform({"kind": "click", "x": x, "y": y, "label": 1})
    return made


def saved(file):
    return mf.Annotation.load(file, photograph())


def test_every_action_is_saved(image, file):
    for request in (
        {"kind": "stroke", "points": [[3, 4], [20, 4]], "label": 0, "radius": 2},
        {"kind": "stroke", "points": [[3, 4]], "label": None, "radius": 1.5},
        {"kind": "choose", "k": 1},
        {"kind": "undo"},
    ):
        before = image.revision
        image.perform(request | {"revision": before})
        assert image.revision != before
        assert len(saved(file).actions) == len(image.annotation.actions)
        np.testing.assert_array_equal(saved(file).labels(), image.annotation.labels())
    assert len(image.annotation.actions) == 3


def test_an_answer_changes_the_region(image):
    question = image.question()
    image.perform({"kind": "answer", "yes": True, "revision": image.revision})
    assert (image.annotation.labels()[question.region] == question.new).mean() > 0.5


def test_a_choice_is_shown(image):
    wanted = image.suggestions()[1]
    image.perform({"kind": "choose", "k": 1, "revision": image.revision})
    np.testing.assert_array_equal(image.annotation.labels(), wanted.labels)


@pytest.mark.parametrize("kind", ["choose", "answer", "undo"])
def test_what_another_tab_has_changed_is_not_touched(image, kind):
    shown = image.revision
    image.perform({"kind": "click", "x": 3, "y": 3, "label": 0})
    with pytest.raises(StaleError, match="another tab"):
        image.perform({"kind": kind, "k": 1, "yes": True, "revision": shown})
    assert len(image.annotation.actions) == 2


def test_strokes_of_two_tabs_are_both_kept(image):
    shown = image.revision
    for x in (3, 9):
        image.perform({"kind": "click", "x": x, "y": 3, "label": 0, "revision": shown})
    assert len(image.annotation.actions) == 3


@pytest.mark.parametrize(
    "request_",
    [
        {},
        {"kind": "sing"},
        {"kind": ["stroke"]},
        {"kind": "stroke"},
        {"kind": "stroke", "points": [], "label": 1, "radius": 2},
        {"kind": "stroke", "points": [[0, 0]] * 100_001, "label": 1, "radius": 2},
        {"kind": "stroke", "points": [[0, 0, 0]], "label": 1, "radius": 2},
        {"kind": "stroke", "points": [["a", 0]], "label": 1, "radius": 2},
        {"kind": "stroke", "points": [[float("nan"), 0]], "label": 1, "radius": 2},
        {"kind": "stroke", "points": [[0, 0]], "label": 2, "radius": 2},
        {"kind": "stroke", "points": [[0, 0]], "label": "astronaut", "radius": 2},
        {"kind": "stroke", "points": [[0, 0]], "label": 1, "radius": -2},
        {"kind": "stroke", "points": [[0, 0]], "label": 1, "radius": "wide"},
        {"kind": "stroke", "points": [[0, 0]], "label": 1, "radius": 1e300},
        {"kind": "click", "x": None, "y": 0, "label": 1},
        {"kind": "click", "x": 0, "y": 0, "label": None},
        {"kind": "click", "x": 0, "y": 0, "label": True},
        {"kind": "choose", "k": 99},
        {"kind": "choose", "k": -1},
        {"kind": "choose", "k": 1.5},
        {"kind": "answer", "yes": "no"},
    ],
    ids=lambda request: str(request)[:60],
)
def test_nonsense_changes_nothing(image, file, request_):
    content = file.read_bytes()
    with pytest.raises(MixfieldError):
        image.perform(request_ | {"revision": image.revision})
    assert file.read_bytes() == content
    assert len(image.annotation.actions) == 1


def test_no_answer_without_a_question(file):
    blank = OpenImage(mf.Annotation(photograph(), NAMES), file)
    with pytest.raises(MixfieldError, match="no question"):
        blank.perform({"kind": "answer", "yes": True, "revision": blank.revision})
