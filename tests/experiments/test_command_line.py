"""`python -m experiments`: what all experiments have in common."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import mixfield as mf
from experiments.__main__ import app


@pytest.mark.parametrize("name", sorted(typer.main.get_command(app).commands))
def test_every_experiment_has_json(name):
    options = {option for entry in typer.main.get_command(app).commands[name].params for option in entry.opts}
    assert {"--json", "--out"} <= options


@pytest.mark.parametrize(
    "words", [["tracking", "--frames", "0", "--scenes", "1"], ["motivation", "--quick", "--workers", "1"]]
)
def test_json_says_where_page_and_numbers_are(words, tmp_path):
    pytest.importorskip("matplotlib")
    folders = ["--out", str(tmp_path), "--work", str(tmp_path / "work")]
    done = CliRunner().invoke(app, [*words, *folders, "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert set(found) == {"page", "json"}
    assert Path(found["page"]).read_text(encoding="utf-8").startswith("# ")
    assert json.loads(Path(found["json"]).read_text(encoding="utf-8"))


def interrupt(*_, **__):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("command", "function"),
    [("tracking", "experiments.people.detected"), ("occupancy", "experiments.occupancy.pets_curves")],
)
def test_interrupt_names_the_folder_to_resume_from(command, function, tmp_path, monkeypatch):
    (tmp_path / "people" / "pets09-s2l1").mkdir(parents=True)
    monkeypatch.setattr(function, interrupt)
    done = CliRunner().invoke(app, [command, "--data", str(tmp_path), "--work", str(tmp_path / "work")])
    assert done.exit_code == 130, done.output
    assert "stopped; posteriors of recorded frames are kept in" in done.output
    assert str(tmp_path / "work") in done.output
    assert "goes on from there" in done.output


def test_threads_reach_the_solver(monkeypatch, tmp_path):
    monkeypatch.setenv("MIXFIELD_THREADS", "7")  # restored after the test
    CliRunner().invoke(app, ["--threads", "3", "video", "--page-only", "--work", str(tmp_path)])
    assert mf.Solver().threads == 3
