"""`python -m experiments tracking` on a synthetic walk."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from experiments.__main__ import app
from experiments.tracking import measure

pytest.importorskip("matplotlib")


def test_page_only_needs_no_tracks(tmp_path, monkeypatch):
    words = ["tracking", "--frames", "0", "--scenes", "1", "--workers", "1"]
    folders = ["--out", str(tmp_path), "--work", str(tmp_path / "work")]
    monkeypatch.setattr(measure, "METHODS", ("mean field",))
    done = CliRunner().invoke(app, [*words, *folders])
    assert done.exit_code == 0, done.output
    page = (tmp_path / "tracking.md").read_text()
    assert "## Walks with doubts" in page
    assert CliRunner().invoke(app, [*words, "--page-only", *folders]).exit_code == 0
    assert (tmp_path / "tracking.md").read_text() == page
