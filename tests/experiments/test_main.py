"""`python -m experiments`: what all experiments have in common."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import mixfield as mf
from experiments.__main__ import app

ROOT = Path(__file__).parents[2]
COMMANDS = typer.main.get_command(app).commands


def test_every_experiment_is_a_command():
    pages = {path.stem for path in (ROOT / "experiments" / "pages").glob("*.md")}
    assert set(COMMANDS) == pages


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_experiment_has_json(name):
    options = {option for entry in COMMANDS[name].params for option in entry.opts}
    assert {"--json", "--out", "--work"} <= options


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_working_folders_have_the_name_that_git_ignores(name):
    (default,) = [entry.default for entry in COMMANDS[name].params if entry.name == "work"]
    assert str(default).startswith("experiments-")
    assert "experiments-*/" in (ROOT / ".gitignore").read_text().splitlines()


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
    [
        ("tracking", "experiments.people.frames.frame_modes"),
        ("occupancy", "experiments.occupancy.pets_curves.pets_curves"),
    ],
)
def test_interrupt_names_the_folder_to_resume_from(command, function, tmp_path, monkeypatch):
    (tmp_path / "people" / "pets09-s2l1").mkdir(parents=True)
    monkeypatch.setattr(function, interrupt)
    done = CliRunner().invoke(app, [command, "--data", str(tmp_path), "--work", str(tmp_path / "work")])
    assert done.exit_code == 130, done.output
    assert "stopped; posteriors of recorded frames are kept in" in done.output
    assert str(tmp_path / "work") in done.output
    assert "the same command resumes from there" in done.output


def test_interrupt_elsewhere_says_how_to_resume(tmp_path, monkeypatch):
    monkeypatch.setattr("experiments.motivation.measure.tasks", interrupt)
    done = CliRunner().invoke(app, ["motivation", "--work", str(tmp_path)])
    assert done.exit_code == 130, done.output
    assert "the same command again" in done.output


def test_threads_reach_the_solver(monkeypatch, tmp_path):
    monkeypatch.setenv("MIXFIELD_THREADS", "7")  # restored after the test
    CliRunner().invoke(app, ["--threads", "3", "video", "--page-only", "--work", str(tmp_path)])
    assert mf.Solver().threads == 3


def test_invalid_input_is_one_sentence(tmp_path):
    words = [sys.executable, "-m", "experiments", "occupancy", "--data", str(tmp_path)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("experiments: no PETS recording in ")
    assert len(done.stderr.splitlines()) == 1


def test_help_loads_nothing_heavy():
    script = (
        "import sys\nfrom experiments.__main__ import app\n"
        "try:\n    app(['--help'])\nexcept SystemExit:\n    pass\n"
        "print([m for m in ('numba', 'scipy', 'cv2', 'matplotlib') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("[]")
