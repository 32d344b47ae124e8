"""``mixfield segment --tune``: kernels chosen on annotated images."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from mixfield.cli import app, main
from mixfield.io import read_scores, write_label_map

runner = CliRunner()


def two_halves(seed):
    """An image of a dark and a bright half, noisy scores and the truth."""
    rng = np.random.default_rng(seed)
    truth = (np.arange(18) >= 9)[None].repeat(12, 0).astype(np.uint8)
    image = (60 + 120 * truth).astype(np.uint8)
    p = np.clip(0.5 + 0.3 * (truth - 0.5) + rng.normal(0, 0.2, truth.shape), 0.05, 0.95)
    return image, np.stack([1 - p, p], -1).astype(np.float32), truth


@pytest.fixture
def folder(tmp_path):
    """Annotated images as --tune takes them."""
    for name in ("images", "scores", "truth"):
        (tmp_path / name).mkdir()
    for k, stem in enumerate("abc"):
        image, probs, truth = two_halves(k)
        Image.fromarray(image).save(tmp_path / "images" / f"{stem}.png")
        np.save(tmp_path / "scores" / f"{stem}.npy", probs)
        write_label_map(tmp_path / "truth" / f"{stem}.png", truth)
    return tmp_path


def run(*arguments):
    return runner.invoke(app, ["segment", *map(str, arguments)])


def fails(monkeypatch, capsys, *arguments):
    """The sentence of a run that ends with exit code 2."""
    monkeypatch.setattr(sys, "argv", ["mixfield", "segment", *map(str, arguments)])
    with pytest.raises(SystemExit) as stop:
        main()
    error = capsys.readouterr().err
    assert stop.value.code == 2
    assert error.startswith("mixfield: ")
    assert len(error.strip().splitlines()) == 1
    return error


def test_tune_writes_kernels_that_segment_reads(folder):
    out = folder / "out"
    answer = run("--tune", folder, "--out", out)
    assert answer.exit_code == 0, answer.output
    for word in ("chosen", "default", "scores alone", "kernels.toml"):
        assert word in answer.stdout
    one = ["--scores", folder / "scores" / "a.npy", "--modes", 1, "--out", out, "--json"]
    assert run(folder / "images" / "a.png", *one, "--kernels", out / "kernels.toml").exit_code == 0
    (out / "kernels.toml").write_text("[kernels]\nsmooth_weight = 0\nweight = 0\n")
    run(folder / "images" / "a.png", *one, "--kernels", out / "kernels.toml")
    _, probs, _ = two_halves(0)
    np.testing.assert_allclose(read_scores(out / "marginals.npz"), probs, atol=1e-3)


def test_truth_of_another_size_is_named(folder, monkeypatch, capsys):
    write_label_map(folder / "truth" / "b.png", np.zeros((3, 3), int))
    error = fails(monkeypatch, capsys, "--tune", folder, "--out", folder / "out")
    assert "b.png must have the size" in error


def test_programs_get_the_whole_table(folder):
    answer = run("--tune", folder, "--out", folder / "out", "--json")
    facts = json.loads(answer.stdout)
    assert len(facts["grid"]) == len(facts["mean_ious"])
    assert facts["kernels"] in facts["grid"]
    assert facts["kernels_file"] == str(folder / "out" / "kernels.toml")
