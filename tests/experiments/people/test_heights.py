"""One height and several: the recordings, and the best single height."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.people import heights, measure
from experiments.people.page import page_text


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(heights, "WALKS", 1)
    monkeypatch.setattr(heights, "LENGTH", 2)
    monkeypatch.setattr(heights, "SINGLE", (1.75, 1.8))


@pytest.mark.usefixtures("short")
def test_the_synthetic_room(tmp_path):
    kind, truth, found = heights.HEIGHTS["synthetic room, two cameras"](tmp_path)
    assert (kind, list(truth)) == ("synthetic", [0, 1])
    assert len(found) == 4
    assert all(list(one) == [0, 1] for one in found.values())
    row = measure.measure("Heights: synthetic room, two cameras", tmp_path)
    text = page_text({"made_by": {"command": "x"}, "rows": [row]})
    assert "- *mean field, three heights* - *mean field*: " in text
    assert "- found 1 to 2 m away, all frames: *mean field, three heights* " in text


def test_displaced_people_are_found_between_one_and_two_metres(monkeypatch, tmp_path):
    truth = {0: np.zeros((1, 2)), 1: np.zeros((1, 2)), 2: np.zeros((1, 2))}
    found = {0: np.array([[0.0, 0.9]]), 1: np.array([[0.0, 1.5]]), 2: np.array([[0.0, 2.5]])}
    monkeypatch.setitem(measure.HEIGHTS, "here", lambda _: ("synthetic", truth, {"mean field": found}))
    assert measure.heights(tmp_path, "here")["mean field"]["1"]["displaced"] == 1
