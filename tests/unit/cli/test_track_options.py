"""`mixfield track` from folders of posteriors."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import mixfield as mf
from mixfield.cli import app, main
from mixfield.io.tracks import read_csv


@pytest.fixture(scope="module")
def walk():
    return mf.datasets.doubtful_walk(40, shape=(20, 20), people=4, rng=5)


@pytest.fixture
def folder(walk, tmp_path):
    for t, p in enumerate(walk.posteriors[:12]):
        p.save(tmp_path / f"frame_{t + 7:06d}.npz")
    return tmp_path


def test_track_on_the_command_line(walk, folder, tmp_path):
    out = tmp_path / "answer.csv"
    answer = CliRunner().invoke(app, ["track", str(folder), "--cell", "0.5", "--out", str(out), "--json"])
    assert answer.exit_code == 0, answer.output
    facts = json.loads(answer.stdout)
    expected = mf.track(walk.posteriors[:12], walk.ground)
    assert facts["cost"] == pytest.approx(expected.cost)
    assert facts["tracks"] == len(expected.by_identity)
    table = read_csv(out)
    assert table["frame"].min() == 7
    np.testing.assert_allclose(table["x"], expected.table["x"])
    assert out.with_suffix(".txt").exists()
    assert out.with_suffix(".html").exists()
    told = CliRunner().invoke(app, ["track", str(folder), "--out", str(out), "--price", "printed"])
    for word in ("tracks in 12 frames", "from the best", "speed"):
        assert word in told.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "no posteriors"),
        (["{folder}", "--price", "free"], "--price must be"),
        (["{folder}", "--out", "missing/t.csv"], "does not exist"),
        (["{folder}", "--doors", "roof"], "doors must be one of"),
        (["{folder}", "--window", "5", "--overlap", "5"], "overlap must be less"),
    ],
)
def test_bad_command_lines_are_one_sentence(folder, arguments, message, monkeypatch, capsys):
    words = [word.format(folder=folder) for word in arguments]
    monkeypatch.setattr(sys, "argv", ["mixfield", "track", *words])
    with pytest.raises(SystemExit) as stop:
        main()
    told = capsys.readouterr().err
    assert stop.value.code == 2
    assert message in told
    assert told.count("\n") == 1
