"""`python -m experiments motivation`: the claims on a few drawings, and the files."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from experiments.__main__ import app

pytest.importorskip("matplotlib")


def test_command(tmp_path):
    folders = ["--out", str(tmp_path), "--work", str(tmp_path / "work")]
    done = CliRunner().invoke(app, ["motivation", "--quick", "--workers", "1", *folders])
    assert done.exit_code == 0, done.output
    results = json.loads((tmp_path / "motivation.json").read_text())
    assert results["made_by"]["command"] == "python -m experiments motivation --quick"
    assert [row["seed"] for row in results["drawings"]] == [0, 1, 2]
    for row in results["drawings"]:
        assert row["exactly_the_quarter_flips"]
        assert row["mean_field_certainty"] > 0.9
        assert abs(row["log_odds"] - row["exact_log_odds"]) < 0.5
        assert 0 < row["kl_two_modes"] < row["kl_mean_field"]
        assert row["marginal_error_two_modes"] < 0.1 * row["marginal_error_mean_field"]
    verdicts = [claim["verdict"] for claim in results["claims"]]
    assert verdicts == ["confirmed", "confirmed", "likely, not equally", "confirmed", "confirmed"]
    assert "![Input, mean field, both modes and the truth](motivation.svg)" in (tmp_path / "motivation.md").read_text()
    assert (tmp_path / "motivation.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "motivation.svg").stat().st_size > 5_000
