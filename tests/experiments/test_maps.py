"""Maps of probabilities."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.maps import Map, write_maps

pytest.importorskip("matplotlib")


def test_maps_have_titles_notes_and_a_scale(tmp_path):
    maps = [Map("first", np.eye(3), "below", "left"), Map("second", np.zeros((3, 3)))]
    for name in ("a.svg", "b.svg"):
        write_maps(tmp_path / name, maps, columns=2, label="probability")
    text = (tmp_path / "a.svg").read_text()
    assert text == (tmp_path / "b.svg").read_text()
    for word in ("first", "second", "below", "left", "probability"):
        assert f">{word}<" in text
