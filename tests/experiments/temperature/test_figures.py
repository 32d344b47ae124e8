"""The figures of the page."""

from __future__ import annotations

import pytest

from experiments.temperature.figures import _entropies, write_figures


def test_files(temperature_rows, tmp_path):
    pytest.importorskip("matplotlib")
    models = {row["name"]: row for row in temperature_rows if row["what"] == "model"}
    write_figures(models, tmp_path)
    for name in ("temperature", "temperature-tanh", "temperature-maps"):
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert (tmp_path / f"{name}.svg").stat().st_size > 5_000


def test_model_1_has_the_predicted_curve(temperature_rows):
    first, second, _ = _entropies({row["name"]: row for row in temperature_rows[:3]})
    assert [curve.name for curve in first.curves][-1] == "fixed-point equation"
    assert first.curves[-1].y[0] < 0.01
    assert first.curves[-1].y[-1] == pytest.approx(1.0)
    assert len(second.curves) == 3
