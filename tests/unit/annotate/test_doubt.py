"""How doubtful images are."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from annotating import doubtful_click, opened, write_scores

from mixfield.annotate.doubt import expected_error, rank_images
from mixfield.apps.annotation import Suggestion


def test_the_expected_share_of_wrong_pixels():
    labels = np.zeros((2, 5), np.uint8)
    differs = [np.zeros((2, 5), bool), np.arange(10).reshape(2, 5) < 4, np.ones((2, 5), bool)]
    found = [Suggestion(labels, p, mask) for p, mask in zip([0.5, 0.3, 0.2], differs, strict=True)]
    assert expected_error(found) == pytest.approx(0.3 * 0.4 + 0.2)


def test_started_images_and_those_with_scores_are_ranked(tmp_path):
    x, y = doubtful_click()
    opened(tmp_path).open(1).perform({"kind": "click", "x": x, "y": y, "label": 1})
    folder = opened(tmp_path, scores=write_scores(tmp_path / "scores", {"a": 0.99}))
    rank_images(folder, threading.Event())
    for k in range(2):
        assert folder.doubt(k) == expected_error(folder.annotation(k).suggest())
    assert 0 < folder.doubt(1) < folder.doubt(2) == 1.0


def test_it_stops_and_goes_past_damaged_files(tmp_path):
    folder = opened(tmp_path, scores=write_scores(tmp_path / "scores", {"a": 0.99, "b": 0.9}))
    (tmp_path / "photos" / "a.png").write_bytes(b"no image")
    stopped = threading.Event()
    stopped.set()
    rank_images(folder, stopped)
    assert folder.doubt(1) is None
    rank_images(folder, threading.Event())
    assert folder.doubt(0) is None
    assert folder.doubt(1) is not None
