"""The files of a segmentation."""

from __future__ import annotations

import json

import numpy as np
import pytest
from page_examples import random_posterior
from PIL import Image
from small_images import two_halves

import mixfield as mf
from mixfield.apps import entropy_gap, segmentation_energy
from mixfield.io import read_image, read_label_map, read_scores
from mixfield.reports.segmentation import LEVELS_PER_BIT, Given, write_segmentation


def test_files_are_read_back(tmp_path):
    post, image = random_posterior()
    gap = np.linspace(0, 2, 48).reshape(6, 8)
    (tmp_path / "mode_7.png").write_text("of an earlier run")
    summary = write_segmentation(tmp_path, image, post, gap)
    assert {path.name for path in tmp_path.glob("mode_*")} == {"mode_1.png", "mode_2.png"}
    for k, labels in enumerate(post.labelings(), 1):
        np.testing.assert_array_equal(read_label_map(tmp_path / f"mode_{k}.png"), labels)
    np.testing.assert_array_equal(read_image(tmp_path / "image.png"), image)
    np.testing.assert_allclose(read_image(tmp_path / "entropy_gap.png") / LEVELS_PER_BIT, gap, atol=0.005 + 1e-9)
    np.testing.assert_allclose(read_scores(tmp_path / "marginals.npz"), post.marginals(), atol=1e-3)
    np.testing.assert_array_equal(mf.load(tmp_path / "result.npz").weights, post.weights)
    assert json.loads((tmp_path / "summary.json").read_text()) == summary
    assert summary["modes"][1]["differs"] == pytest.approx((post.labelings()[0] != post.labelings()[1]).mean())
    with Image.open(tmp_path / "figure.png") as figure:
        assert figure.size[0] > 4 * 250


@pytest.mark.filterwarnings("ignore::mixfield.errors.MixfieldWarning")
def test_files_of_an_inferred_posterior(tmp_path):
    image, probs, _ = two_halves()
    energy = segmentation_energy(image, probs)
    posterior = mf.infer(energy, 2)
    gap = entropy_gap(energy, posterior.modes[0])
    (tmp_path / "mode_9.png").touch()
    summary = write_segmentation(tmp_path, image, posterior, gap)
    modes = len(posterior.modes)
    assert sorted(p.name for p in tmp_path.glob("mode_*")) == [f"mode_{k + 1}.png" for k in range(modes)]
    for k in range(modes):
        np.testing.assert_array_equal(read_label_map(tmp_path / f"mode_{k + 1}.png"), posterior.labelings()[k])
    np.testing.assert_allclose(read_scores(tmp_path / "marginals.npz"), posterior.marginals(), atol=1e-3)
    np.testing.assert_allclose(read_image(tmp_path / "entropy_gap.png") / LEVELS_PER_BIT, gap, atol=0.006)
    assert mf.load(tmp_path / "result.npz").log_z == pytest.approx(posterior.log_z)
    assert summary["weights"] == posterior.weights.tolist()


def test_what_was_given_is_saved_if_it_was(tmp_path):
    post, image = random_posterior()
    scribbles = np.full((6, 8), -1)
    scribbles[2, 3:5] = 1
    (tmp_path / "all").mkdir()
    (tmp_path / "all" / "superpixels.npy").touch()
    write_segmentation(tmp_path / "all", image, post, None, Given(scribbles, ("wall", "door")))
    assert not (tmp_path / "all" / "superpixels.npy").exists()  # of an earlier version
    assert (tmp_path / "all" / "entropy.png").exists()
    assert (tmp_path / "all" / "labels.txt").read_text() == "wall\ndoor\n"
    strokes = read_label_map(tmp_path / "all" / "scribbles.png")
    np.testing.assert_array_equal(strokes, np.where(scribbles < 0, 255, scribbles))
    write_segmentation(tmp_path / "none", *random_posterior()[::-1], np.zeros((6, 8)))
    for name in ("labels.txt", "scribbles.png", "superpixels.npy"):
        assert not (tmp_path / "none" / name).exists()
