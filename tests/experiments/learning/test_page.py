"""The page of made-up numbers."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'mixfield[torch]'")

from experiments.learning.measure import by_part, tasks
from experiments.learning.page import page_text
from experiments.provenance import provenance


def test_the_tables_of_the_page(tmp_path):
    planted = {"seed": 0, "found": {"exponent": 0.81, "smooth_weight": 1.0, "weight": 1.5}, "worst": 0.0125}
    other = [{"method": m, "ged": g, "matched_iou": 0.8, "nll": 0.1} for m, g in (("a", 0.5), ("a", 0.3), ("b", 0.1))]
    stills = [
        {"method": m, "nll": v, "pixel_nll": 2 * v, "iou": i}
        for m, v, i in (("soft", 0.3, 0.7), ("soft", 0.5, 0.7), ("mf", 0.2, 0.8), ("mf", 0.4, 0.8))
    ]
    rows = by_part(
        {"part": part, "rows": given}
        for part, given in (("planted", [planted]), ("annotators", other), ("stills", stills))
    )
    text = page_text({"made_by": provenance("a command", seeds="0"), **rows})
    assert "| 0 | 0.810 | 1.000 | 1.500 | 1.2 % |" in text
    assert "| a | 0.400 | 0.500 | 0.800 | 0.100 |" in text
    assert "| mf | 0.3000 | 0.6000 | 80.00 | -25.0 % [-25.0, -25.0] | +10.0 % [+10.0, +10.0] |" in text
    assert len(tasks(2, 5, tmp_path)) == 2 * 2 + 5
