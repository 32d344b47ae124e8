"""Planted parameters come back from few images roughly; the page has the numbers of many."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'mixfield[torch]'")

from experiments.learning import planted  # noqa: E402


def test_planted_parameters_are_recovered(monkeypatch):
    monkeypatch.setattr(planted, "SIZE", 40)
    row = planted.measure(0, count=3)
    assert row["worst"] < 0.3
    assert set(row["found"]) == {"exponent", "smooth_weight", "weight"}
    start = max(abs(planted.START[name] / true - 1) for name, true in planted.TRUE.items())
    assert start > 0.6  # far from the truth


def test_labels_are_drawn_from_the_marginals():
    log_q = torch.log(torch.tensor([0.2, 0.8])).reshape(1, 2, 1, 1).expand(1, 2, 100, 100)
    assert float(planted.draw(log_q, 0).float().mean()) == pytest.approx(0.8, abs=0.02)
