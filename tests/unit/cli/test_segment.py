"""``mixfield segment``: one image, a folder, tuned kernels, and one sentence for bad input."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

import mixfield as mf
from mixfield.apps import segmentation_energy
from mixfield.cli import app, main
from mixfield.io import read_label_map, read_scores, write_label_map

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


def test_one_image_is_the_library_answer(folder):
    image, scores, out = folder / "images" / "a.png", folder / "scores" / "a.npy", folder / "out"
    answer = run(image, "--scores", scores, "--modes", 2, "--out", out, "--json", "--seed", 3)
    assert answer.exit_code == 0
    said = json.loads(answer.stdout)
    picture, probs, _ = two_halves(0)
    posterior = mf.infer(segmentation_energy(picture, probs), 1, rng=3)
    np.testing.assert_array_equal(read_label_map(out / "mode_1.png"), posterior.labelings()[0])
    assert said["weights"] == mf.load(out / "result.npz").weights.tolist()
    names = {"mode_1.png", "marginals.npz", "entropy_gap.png", "figure.png", "result.npz", "summary.json"}
    assert names <= {path.name for path in out.iterdir()}


def test_one_image_for_people(folder):
    answer = run(folder / "images" / "a.png", "--scores", folder / "truth" / "a.png", "--out", folder / "out")
    assert answer.exit_code == 0
    for word in ("18 x 12 pixels", "weight", "figure.png"):
        assert word in answer.stdout


def test_options_of_evidence(folder):
    image, out = folder / "images" / "a.png", folder / "out"
    _, probs, truth = two_halves(0)
    np.save(folder / "logits.npy", np.log(probs))
    facts = []
    for options in (
        ["--scores", folder / "logits.npy", "--logits"],
        ["--scores", folder / "scores" / "a.npy"],
        ["--scores", folder / "truth" / "a.png", "--labels", 5],
    ):
        answer = run(image, *options, "--modes", 1, "--out", out, "--json")
        assert answer.exit_code == 0, answer.output
        facts.append((json.loads(answer.stdout)["log_z"], read_scores(out / "marginals.npz")))
    np.testing.assert_allclose(facts[0][1], facts[1][1], atol=2e-3)
    assert facts[2][1].shape == (*truth.shape, 5)
    sure, unsure = (
        json.loads(run(image, "--scores", folder / "truth" / "a.png", "--certainty", c, "--out", out, "--json").stdout)[
            "log_z"
        ]
        for c in (0.99, 0.6)
    )
    assert sure > unsure
    answer = run(image, "--scores", folder / "truth" / "a.png", "--unknown", 0, "--modes", 1, "--out", out, "--json")
    assert json.loads(answer.stdout)["modes"][0]["labels"] == [1]  # nothing speaks for label 0 any more


def test_folder(folder):
    answer = run(folder / "images", "--scores", folder / "scores", "--modes", 1, "--out", folder / "out", "--json")
    assert answer.exit_code == 0
    said = json.loads(answer.stdout)
    assert [len(said["images"]), said["failures"]] == [3, {}]
    for stem in "abc":
        assert (folder / "out" / stem / "figure.png").exists()


def test_one_failure_does_not_stop_the_others(folder):
    (folder / "images" / "b.png").write_text("not an image")
    (folder / "scores" / "c.npy").unlink()
    answer = run(folder / "images", "--scores", folder / "scores", "--modes", 1, "--out", folder / "out")
    assert answer.exit_code == 1
    assert "1 images segmented, 2 failed" in answer.stdout
    failures = json.loads((folder / "out" / "summary.json").read_text())["failures"]
    assert set(failures) == {"b.png", "c.png"}
    assert "not an image" in failures["b.png"]
    assert "no scores c.npy" in failures["c.png"]
    assert (folder / "out" / "a" / "figure.png").exists()


def test_bad_input_is_one_sentence(folder, monkeypatch, capsys):
    image, scores = folder / "images" / "a.png", folder / "scores" / "a.npy"
    np.save(folder / "swapped.npy", np.swapaxes(np.load(scores), 0, 1))
    (folder / "text.npy").write_text("hello")
    cases = {
        "give an image": [],
        "its --scores": [image],
        "no such file": [folder / "none.png", "--scores", scores],
        "swapped": [image, "--scores", folder / "swapped.npy"],
        "does not hold scores": [image, "--scores", folder / "text.npy"],
        "must be .npy": [image, "--scores", folder / "scores"],
        "must be a folder": [folder / "images", "--scores", scores],
        "--out is a folder": [image, "--scores", scores, "--out", scores],
        "truth": ["--tune", folder / "images"],
        "k.toml": [image, "--scores", scores, "--kernels", folder / "k.toml"],
    }
    for sentence, arguments in cases.items():
        out = [] if "--out" in arguments else ["--out", folder / "out"]
        assert sentence in fails(monkeypatch, capsys, *arguments, *out)
    assert not (folder / "out").exists()


def test_without_pillow_the_extra_is_named(folder, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "PIL", None)
    assert "mixfield[images]" in fails(monkeypatch, capsys, folder / "images", "--scores", folder / "scores")


@pytest.mark.parametrize("arguments", [["--modes", "0"], ["--labels", "0"], ["--nonsense"]])
def test_bad_usage_exits_with_2(arguments):
    assert run("x.png", *arguments).exit_code == 2
