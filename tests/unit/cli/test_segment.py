"""``mixfield segment``: one image, a folder, models of the field, and one sentence for bad input."""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import numpy as np
import pytest
from command_line import error_of, two_halves, write_annotated
from typer.testing import CliRunner

import mixfield as mf
from mixfield.apps import FieldModel, segmentation_energy
from mixfield.cli import app
from mixfield.io import read_label_map, read_scores
from mixfield.reports.gallery_page import gallery_page

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
    posterior = mf.segment(picture, probs, 2, rng=3)
    np.testing.assert_array_equal(read_label_map(out / "mode_1.png"), posterior.labelings()[0])
    assert said["weights"] == posterior.weights.tolist() == mf.load(out / "result.npz").weights.tolist()
    np.testing.assert_allclose(read_scores(out / "marginals.npz"), posterior.marginals(), atol=2e-3)
    names = {"mode_1.png", "marginals.npz", "entropy.png", "figure.png", "result.npz", "summary.json"}
    assert names <= {path.name for path in out.iterdir()}


def test_deeplabs_kernels_have_the_weights_of_the_paper(folder):
    image, scores, out = folder / "images" / "a.png", folder / "scores" / "a.npy", folder / "out"
    answer = run(image, "--scores", scores, "--modes", 2, "--out", out, "--json", "--seed", 3, "--model", "deeplab")
    said = json.loads(answer.stdout)
    picture, probs, _ = two_halves(0)
    posterior = mf.infer(segmentation_energy(picture, probs, kernels=mf.Kernels.deeplab()), 2, rng=3)
    assert said["weights"] == posterior.weights.tolist() == said["model_weights"]
    assert not said["calibrated"]
    np.testing.assert_array_equal(read_label_map(out / "mode_1.png"), posterior.labelings()[0])
    assert (out / "entropy_gap.png").exists()
    assert not (out / "entropy.png").exists()


def test_one_image_for_people(folder):
    answer = run(folder / "images" / "a.png", "--scores", folder / "truth" / "a.png", "--out", folder / "out")
    assert answer.exit_code == 0
    for word in ("18 x 12 pixels", "probability", "mean field", "figure.png"):
        assert word in answer.stdout
    assert "nats" not in answer.stdout


@pytest.fixture
def doubtful(folder):
    """An image whose right half may be either label; names of the labels are in its scores."""
    _, _, truth = two_halves(0)
    probs = np.where(truth[..., None] == 1, [0.52, 0.48], [0.97, 0.03])
    np.savez(folder / "doubtful.npz", probs=probs, names=np.array(["wall", "door"]))
    kernels = mf.Kernels(smooth_sxy=2, smooth_weight=2, sxy=5, srgb=10, weight=3)
    replace(FieldModel.default(), kernels=kernels).save(folder / "model.toml")
    return (folder / "images" / "a.png", "--scores", folder / "doubtful.npz", "--model", folder / "model.toml", "--out")


def test_alternatives_are_questions_and_nats_come_on_demand(doubtful, folder):
    plain, nats = (run(*doubtful, folder / f"out{k}", *more).stdout for k, more in enumerate(([], ["--nats"])))
    assert "is this region wall or door?" in plain
    assert " % of the image" in plain
    assert "nats" not in plain
    for text in ("nats below mode 1", "weight by the energy", "counts every pixel as independent"):
        assert text in nats
    summary = json.loads((folder / "out0" / "summary.json").read_text())
    question = summary["modes"][1]["question"]
    assert (question["old"], question["new"]) == (0, 1)
    assert summary["modes"][1]["about"].startswith("is this region wall or door?")
    assert summary["one_hot"]
    assert sum(summary["weights"]) == pytest.approx(1)


def test_no_doubt_is_said(folder):
    sure = ("--certainty", 0.9999)
    certain = [folder / "images" / "a.png", "--scores", folder / "truth" / "a.png", "--out", folder / "out"]
    answer = run(*certain, *sure)
    assert "no doubt" in answer.stdout
    assert any("no doubt" in note for note in json.loads((folder / "out" / "summary.json").read_text())["notes"])
    many = run(folder / "images", "--scores", folder / "truth", "--out", folder / "many", *sure)
    assert many.stdout.count("no doubt") == 3
    assert "3 without doubt" in gallery_page(folder / "many", title="many")


def test_one_mode_says_nothing_about_doubt(doubtful, folder):
    single = json.loads(run(*doubtful, folder / "one", "--modes", 1, "--json").stdout)
    assert (single["without_doubt"], single["notes"]) == (False, [])
    assert not mf.load(folder / "one" / "result.npz").calibration.without_doubt
    many = run(folder / "images", "--scores", folder / "scores", "--out", folder / "many", "--modes", 1)
    assert (many.stdout.count("no doubt"), many.stdout.count("one mode")) == (0, 3)
    page = gallery_page(folder / "many", title="many")
    assert "0 without doubt" in page
    assert "no doubt" not in page


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
    for out, reason in (("one", "of another image, a.png"), ("many", "of other settings")):
        error = error_of(monkeypatch, capsys, "segment", *other, "--out", folder / out)
        assert f"holds results {reason}" in error
    error = error_of(monkeypatch, capsys, "segment", *many[:3], "--modes", 1, "--out", folder / "one")
    assert "holds the result of a single image" in error
    assert not (folder / "one" / "manifest.jsonl").exists()


def test_names_of_labels(folder):
    _, probs, _ = two_halves(0)
    np.savez(folder / "named.npz", probs=probs, names=np.array(["wall", "door"]))
    (folder / "names.txt").write_text("Wand\nTür\n", encoding="utf-8")
    common = (folder / "images" / "a.png", "--scores", folder / "named.npz", "--modes", 1, "--out")
    assert run(*common, folder / "one").exit_code == 0
    assert (folder / "one" / "labels.txt").read_text().split() == ["wall", "door"]
    assert run(*common, folder / "two", "--names", folder / "names.txt").exit_code == 0
    assert (folder / "two" / "labels.txt").read_text(encoding="utf-8").split() == ["Wand", "Tür"]
    (folder / "names.txt").write_text("wall")
    for scores in (folder / "named.npz", folder / "truth" / "a.png"):
        words = ("--scores", scores, "--names", folder / "names.txt", "--out", folder / "x")
        error = str(run(folder / "images" / "a.png", *words).exception)
        assert error == "--names must have a name for each of the 2 labels, got 1"
    assert not (folder / "x").exists()


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
    assert "1 image segmented, 2 failed" in answer.stdout
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
        "no such file": [folder / "none.png", "--scores", scores],
        "swapped": [image, "--scores", folder / "swapped.npy"],
        "does not hold scores": [image, "--scores", folder / "text.npy"],
        "must be .npy": [image, "--scores", folder / "scores"],
        "must be a folder": [folder / "images", "--scores", scores],
        "--out is a folder": [image, "--scores", scores, "--out", image],
        "another file than image and scores": [image, "--scores", scores, "--out", scores],
        "k.toml does not exist": [image, "--scores", scores, "--model", folder / "k.toml"],
        "text.npy is not a field model": [image, "--scores", scores, "--model", folder / "text.npy"],
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


@pytest.mark.parametrize("arguments", [["--modes", "0"], ["--labels", "0"], ["--nonsense"], []])
def test_bad_usage_exits_with_2(arguments):
    assert run("x.png", "--scores", "x.npy", *(arguments or ["y"])).exit_code == 2


def test_missing_arguments_are_named():
    for arguments, missing in (([], "image"), (["x.png"], "--scores")):
        answer = run(*arguments)
        assert answer.exit_code == 2
        assert missing in answer.output
