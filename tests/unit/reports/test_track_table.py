"""Tracks on a page."""

from __future__ import annotations

import numpy as np

from mixfield.apps.tracker import RECORD
from mixfield.reports.track_table import TrackTable

ROWS = [(1, 3, 0, 0, 0.12345, 1.0, 0.987), (0, 2, 0, 0, 1.0, 2.0, 0.1), (0, 1, 0, 0, 3.0, 4.0, 0.6)]


def test_tracks_are_ordered_by_identity_and_frame():
    table = TrackTable(np.array(ROWS, RECORD), np.zeros(4, int), {})
    assert table.count == 2
    assert table.facts() == [[0, 1, [[3.0, 4.0, 0.6], [1.0, 2.0, 0.1]]], [1, 3, [[0.123, 1.0, 0.99]]]]
    assert table.section() == ""


def test_no_tracks():
    assert TrackTable(np.zeros(0, RECORD), np.zeros(2, int), {}).facts() == []


def test_the_summary_is_written_with_units():
    summary = {"tracks": 2, "median_speed": 1.234, "speed_unit": "m/s", "unseen": 0.25, "cost": None, "other": 1}
    text = TrackTable(np.zeros(0, RECORD), np.zeros(2, int), summary).section()
    assert "<td>1.23 m/s</td>" in text
    assert "<td>25%</td>" in text
    assert "cost" not in text
    assert "other" not in text
