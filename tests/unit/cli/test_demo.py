"""``mixfield demo``: a graph, a photograph, people."""

from __future__ import annotations

import json
import shlex

import numpy as np
from command_line import error_of
from typer.testing import CliRunner

import mixfield as mf
from mixfield.cli import app
from mixfield.io import read_label_map

runner = CliRunner()


def test_demo_tells_what_mean_field_missed(tmp_path):
    answer = runner.invoke(app, ["demo", "--graph", "--out", str(tmp_path / "demo"), "--json"])
    facts = json.loads(answer.stdout)
    assert facts["flipped_variables"] == 64
    first, second = mf.load(tmp_path / "demo" / "result.npz").labelings()
    assert facts["differing_variables"] == (first != second).sum()
    assert abs(facts["log_odds"] - facts["exact_log_odds"]) < 0.5
    assert facts["mean_field_log_z"] < facts["mixture_log_z"] < facts["exact_log_z"]
    assert "nats from the truth" in (tmp_path / "demo" / "report.html").read_text()
    assert mf.read_uai(tmp_path / "demo" / "four-zones.uai").n == 256


def test_demo_of_a_photograph_leaves_two_questions_open(tmp_path):
    out = tmp_path / "demo"
    facts = json.loads(runner.invoke(app, ["demo", "--out", str(out), "--json"]).stdout)
    assert len(facts["weights"]) == 4
    assert max(facts["weights"]) < 0.5
    maps = np.stack([read_label_map(out / f"mode_{k}.png") for k in range(1, 5)])
    helmet, table, face, wall = ((slice(200, 240), slice(180, 220)), (slice(155, 170), slice(220, 250)),
                                 (slice(55, 80), slice(100, 120)), (slice(20, 60), slice(225, 235)))  # fmt: skip
    answers = {tuple(bool(labels[place].mean() > 0.5) for place in (helmet, table)) for labels in maps}
    assert answers == {(True, True), (True, False), (False, True), (False, False)}
    assert all(labels[face].mean() > 0.9 and labels[wall].mean() < 0.1 for labels in maps)
    for name in ("report.html", "figure.png", "result.npz", "image.png", "scribbles.png"):
        assert (out / name).stat().st_size > 0
    assert "Who is the astronaut?" in (out / "report.html").read_text()


def test_the_next_command_of_the_photograph_gives_the_answer_of_the_demo(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = runner.invoke(app, ["demo", "--out", "my demo"]).stdout
    (line,) = [line for line in text.splitlines() if line.startswith("next:")]
    for command in line.removeprefix("next:").split("&&"):
        program, *arguments = shlex.split(command)
        assert program == "mixfield"
        answer = runner.invoke(app, arguments)
        assert answer.exit_code == 0, answer.output
    demo, out = tmp_path / "my demo", tmp_path / "mixfield-segment"
    for name in (*(f"mode_{k}.png" for k in range(1, 5)), "result.npz", "scribbles.png", "labels.txt"):
        assert (out / name).read_bytes() == (demo / name).read_bytes(), name
    assert "astronaut" in (out / "report.html").read_text()


def test_demo_of_people_has_tracks(tmp_path, monkeypatch):
    monkeypatch.setattr("mixfield.reports.demos.FRAMES", 4)
    facts = json.loads(runner.invoke(app, ["demo", "--people", "--out", str(tmp_path), "--json"]).stdout)
    assert facts["frames"] == 4
    assert facts["tracks"] >= 3
    assert (tmp_path / "report.html").stat().st_size > 0
    assert len(list((tmp_path / "modes").glob("frame_*.npz"))) == 4


def test_demo_prints_a_table_and_the_next_command(tmp_path):
    text = runner.invoke(app, ["demo", "--graph", "--out", str(tmp_path)]).stdout
    assert "next:" in text
    assert "mixfield solve" in text
    assert "report.html" in text


def test_demo_without_scikit_image_says_so_and_shows_the_graph(tmp_path, monkeypatch):
    monkeypatch.setattr("mixfield.cli.demo.find_spec", lambda _: None)
    answer = runner.invoke(app, ["demo", "--out", str(tmp_path), "--json"])
    *before, last = answer.output.splitlines()  # older versions of Click cannot tell the two streams apart
    assert "mixfield[demo]" in "\n".join(before)
    assert json.loads(last)["flipped_variables"] == 64


def test_one_demo_at_a_time(monkeypatch, capsys):
    assert "choose one" in error_of(monkeypatch, capsys, "demo", "--people", "--graph")
