"""The page: scores, medians and energies of each limit of time."""

from __future__ import annotations

import pytest

pytest.importorskip("dimod", reason="dimod is not installed")
page = pytest.importorskip("experiments.uai.page")

MADE_BY = {"command": "python -m experiments uai", "versions": {"mixfield": "0"}, "peers": {"p": "1"}, "note": "Quiet."}


def _row(model, pr, bp, energy, other):
    answers = {name: {"seconds": 1.0, "pr": pr, "mar": 0.1} for name in page.ANSWERS}
    answers["damped BP"] = {"seconds": 0.1, "pr": bp, "mar": 0.2}
    answers["estimate"]["mar"] = None
    energies = {name: {"seconds": 1.0, "energy": other} for name in page.ENERGIES}
    energies["mixfield"] = {"seconds": 1.0, "energy": energy}
    energies["dwave annealing"]["energy"] = None
    limits = {"limit": 5.0, "finished": False}
    return {"model": model, "variables": 9, **limits, "modes": 3, "answers": answers, "energies": energies}


def test_tables(tmp_path):
    rows = [_row("A_1", 0.5, 0.75, 1.0, 1.0), _row("B_1", 0.25, None, 2.0, 2.0), _row("C_1", 0.75, 0.5, 3.0, 2.5)]
    text = page.write_page(rows, MADE_BY, tmp_path).read_text()
    assert "## Limit of 5 s, 3 models" in text
    assert "the estimate is at least as close as damped BP on 2 of 3 models" in text
    assert "| A_1 | 0.5000 (1.00 s) | 0.5000 (1.00 s) | 0.7500 (0.10 s) | 0.5000 (1.00 s) | 0.5000 (1.00 s) |" in text
    assert "| B_1 | 0.2500 (1.00 s) | 0.2500 (1.00 s) | - | 0.2500 (1.00 s) | 0.2500 (1.00 s) |" in text
    assert "| **median** | 0.5000 | 0.5000 | 0.7500 | 0.5000 | 0.5000 |" in text
    assert "None is below ours on 2 of 3 models (not on C_1)." in text
    assert "| C_1 | 9 | 3.0000 | 2.5000 | - | 2.5000 | 1.00 | 1.00 | - | 1.00 |" in text
    assert "without compiling. Quiet." in text


def test_models_with_smaller_limits_only(tmp_path):
    """Those that had finished, and those that had not, are told apart; a model without marginals has no MAR."""
    rows = [_row("A_1", 0.5, 0.75, 1.0, 1.0), _row("B_1", 0.5, 0.75, 1.0, 1.0), _row("C_1", 0.5, 0.75, 1.0, 1.0)]
    rows[0]["finished"] = True
    longer = {**_row("B_1", 0.25, 0.75, 1.0, 1.0), "limit": 9.0}
    for found in longer["answers"].values():
        found["mar"] = None
    text = page.write_page([*rows, longer], MADE_BY, tmp_path).read_text()
    assert "limits (5 s and 9 s)" in text
    before, after = text.split("## Limit of 9 s, 1 models")
    assert "further models" not in before
    assert "1 further models had finished within a smaller limit: the same answers." in after
    assert "Not measured with this limit: C_1; PR of their bounds was at most 0.5000 before." in after
    assert "| B_1 | 0.1000" in before.split("### MAR")[1]
    assert "| B_1 |" not in after.split("### MAR")[1].split("### Energies")[0]
