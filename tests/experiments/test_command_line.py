"""``mixfield reproduce``: what all experiments have in common."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from experiments.__main__ import app as experiments
from mixfield.cli import app


@pytest.mark.parametrize("name", sorted(typer.main.get_command(experiments).commands))
def test_every_experiment_has_json(name):
    options = {option for entry in typer.main.get_command(experiments).commands[name].params for option in entry.opts}
    assert {"--json", "--out"} <= options


@pytest.mark.parametrize(
    "words", [["tracking", "--frames", "0", "--scenes", "1"], ["motivation", "--quick", "--workers", "1"]]
)
def test_json_says_where_page_and_numbers_are(words, tmp_path):
    pytest.importorskip("matplotlib")
    done = CliRunner().invoke(
        app, ["reproduce", *words, "--out", str(tmp_path), "--work", str(tmp_path / "work"), "--json"]
    )
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert set(found) == {"page", "json"}
    assert Path(found["page"]).read_text(encoding="utf-8").startswith("# ")
    assert json.loads(Path(found["json"]).read_text(encoding="utf-8"))
