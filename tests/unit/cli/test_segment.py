"""``mixfield segment``: one image, a folder, tuned kernels, and one sentence for bad input."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
from command_line import error_of, two_halves, write_annotated
from typer.testing import CliRunner

import mixfield as mf
from mixfield.apps import segmentation_energy
from mixfield.cli import app
from mixfield.io import read_label_map, read_scores

runner = CliRunner()


@pytest.fixture
def folder(tmp_path):
    return write_annotated(tmp_path)


def run(*arguments):
    return runner.invoke(app, ["segment", *map(str, arguments)])


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
    image, outs = folder / "images" / "a.png", (folder / f"out_{k}" for k in range(9))
    _, probs, truth = two_halves(0)
    np.save(folder / "logits.npy", np.log(probs))
    facts = []
    for options in (
        ["--scores", folder / "logits.npy", "--logits"],
        ["--scores", folder / "scores" / "a.npy"],
        ["--scores", folder / "truth" / "a.png", "--labels", 5],
    ):
        out = next(outs)
        answer = run(image, *options, "--modes", 1, "--out", out, "--json")
        assert answer.exit_code == 0, answer.output
        facts.append((json.loads(answer.stdout)["log_z"], read_scores(out / "marginals.npz")))
    np.testing.assert_allclose(facts[0][1], facts[1][1], atol=2e-3)
    assert facts[2][1].shape == (*truth.shape, 5)
    label_map = (image, "--scores", folder / "truth" / "a.png", "--json", "--out")
    sure, unsure = (json.loads(run(*label_map, next(outs), "--certainty", c).stdout)["log_z"] for c in (0.99, 0.6))
    assert sure > unsure
    answer = run(*label_map, next(outs), "--unknown", 0, "--modes", 1)
    assert json.loads(answer.stdout)["modes"][0]["labels"] == [1]  # nothing speaks for label 0 any more


def test_other_settings_into_a_folder_with_results_are_refused_for_one_image_and_for_many(monkeypatch, capsys, folder):
    one = (folder / "images" / "a.png", "--scores", folder / "scores" / "a.npy", "--out", folder / "one")
    many = (folder / "images", "--scores", folder / "scores", "--out", folder / "many")
    for arguments in (one, many):
        assert run(*arguments, "--modes", 1).exit_code == 0
        assert "holds results of other settings" in error_of(monkeypatch, capsys, "segment", *arguments, "--modes", 2)
        assert run(*arguments, "--modes", 1).exit_code == 0
    other = (folder / "images" / "b.png", "--scores", folder / "scores" / "b.npy", "--modes", 1)
    for out in ("one", "many"):
        assert "holds results of other settings" in error_of(
            monkeypatch, capsys, "segment", *other, "--out", folder / out
        )


def test_names_of_labels(folder):
    _, probs, _ = two_halves(0)
    np.savez(folder / "named.npz", probs=probs, names=np.array(["wall", "door"]))
    (folder / "names.txt").write_text("Wand\nTür\n", encoding="utf-8")
    common = (folder / "images" / "a.png", "--scores", folder / "named.npz", "--modes", 1, "--out")
    assert run(*common, folder / "one").exit_code == 0
    assert (folder / "one" / "labels.txt").read_text().split() == ["wall", "door"]
    assert run(*common, folder / "two", "--names", folder / "names.txt").exit_code == 0
    assert (folder / "two" / "labels.txt").read_text(encoding="utf-8").split() == ["Wand", "Tür"]


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
        assert sentence in error_of(monkeypatch, capsys, "segment", *arguments, *out)
    assert not (folder / "out").exists()


def test_without_pillow_the_extra_is_named(folder, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "PIL", None)
    assert "mixfield[images]" in error_of(
        monkeypatch, capsys, "segment", folder / "images", "--scores", folder / "scores"
    )


@pytest.mark.parametrize("arguments", [["--modes", "0"], ["--labels", "0"], ["--nonsense"]])
def test_bad_usage_exits_with_2(arguments):
    assert run("x.png", *arguments).exit_code == 2
