"""Rows of the page on people."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.people.measure import ROWS, measure, score, weights_twice
from experiments.people.page import page_text


def test_score_counts_all_frames_and_those_kept():
    truth = {t: np.zeros((1, 2)) for t in range(400)}
    found = {t: np.full((1, 2), 0.0 if t < 200 else 0.5) for t in range(400)}  # half a metre off diagonally: 0.71 m
    scores = score("PETS", truth, [found])
    assert scores["0.5"]["moda"] == pytest.approx(0.0)
    assert scores["0.5"]["kept"] == pytest.approx(-1.0)
    assert scores["1"]["moda"] == pytest.approx(1.0)


def test_page_shows_paired_differences():
    truth = {t: np.zeros((1, 2)) for t in range(400)}
    good, bad = score("PETS", truth, [truth]), score("PETS", truth, [{}])
    row = {"name": "PETS", "methods": {"blobs": good, "cells": bad}}
    text = page_text({"made_by": {"command": "x"}, "rows": [row]})
    assert "- *blobs* - *cells*: +1.000 (+1.000 to +1.000) at 0.5 m" in text


def test_rows_have_names(data):
    with pytest.raises(KeyError):
        measure("nothing", data)
    assert "WILDTRACK, 7 cameras" in ROWS


def test_weights_count_twice_beside_the_probability_of_people():
    q = np.full((2, 3), 0.1)
    price = weights_twice(np.array([0.8, 0.2]), q)
    assert price[1] - price[0] == pytest.approx(2.0 * np.log(4.0))
    assert price[0] == pytest.approx(-2.0 * np.log(0.8) - 3.0 * np.log(0.9))
