"""``mixfield segment --tune``: kernels chosen on annotated images."""

from __future__ import annotations

import json

import numpy as np
import pytest
from command_line import error_of, two_halves, write_annotated
from typer.testing import CliRunner

from mixfield.cli import app
from mixfield.io import read_scores, write_label_map

runner = CliRunner()


@pytest.fixture
def folder(tmp_path):
    return write_annotated(tmp_path)


def run(*arguments):
    return runner.invoke(app, ["segment", *map(str, arguments)])


def test_tune_writes_kernels_that_segment_reads(folder):
    out = folder / "out"
    answer = run("--tune", folder, "--out", out)
    assert answer.exit_code == 0, answer.output
    for word in ("chosen", "default", "scores alone", "kernels.toml"):
        assert word in answer.stdout
    one = [folder / "images" / "a.png", "--scores", folder / "scores" / "a.npy", "--modes", 1, "--json"]
    assert run(*one, "--out", out, "--kernels", out / "kernels.toml").exit_code == 0
    (out / "kernels.toml").write_text("[kernels]\nsmooth_weight = 0\nweight = 0\n")
    run(*one, "--out", folder / "other", "--kernels", out / "kernels.toml")
    _, probs, _ = two_halves(0)
    np.testing.assert_allclose(read_scores(folder / "other" / "marginals.npz"), probs, atol=1e-3)


def test_truth_of_another_size_is_named(folder, monkeypatch, capsys):
    write_label_map(folder / "truth" / "b.png", np.zeros((3, 3), int))
    error = error_of(monkeypatch, capsys, "segment", "--tune", folder, "--out", folder / "out")
    assert "b.png must have the size" in error


def test_programs_get_the_whole_table(folder):
    answer = run("--tune", folder, "--out", folder / "out", "--json")
    facts = json.loads(answer.stdout)
    assert len(facts["grid"]) == len(facts["mean_ious"])
    assert facts["kernels"] in facts["grid"]
    assert facts["kernels_file"] == str(folder / "out" / "kernels.toml")
