"""Each script of the gallery runs and shows what its text says."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def run(monkeypatch):
    """Run a script without a display; returns its variables."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.setattr(pyplot, "show", lambda: None)
    pyplot.switch_backend("Agg")
    yield lambda name: runpy.run_path(str(EXAMPLES / name))
    pyplot.close("all")


def test_every_script_has_its_test():
    tested = {f"plot_{name.removeprefix('test_')}.py" for name in globals() if name.startswith("test_")}
    assert {path.name for path in EXAMPLES.glob("plot_*.py")} <= tested


def test_first_modes(run):
    shown = run("plot_first_modes.py")
    single, post, truth = shown["single"], shown["post"], shown["truth"]
    assert single.log_z < post.log_z <= truth.log_z
    assert len(post.modes) == 2
    quarter = np.s_[8:, 8:]
    first, second = post.labelings()
    assert (first[quarter] != second[quarter]).mean() > 0.9


def test_learning(run):
    pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'mixfield[torch]'")
    shown = run("plot_learning.py")
    sizes = sorted(shown["modes"].labelings[0].flatten(1).sum(1).tolist())
    assert sizes[0] == pytest.approx(int(shown["narrow"].sum()), abs=12)
    assert sizes[1] == pytest.approx(int(shown["wide"].sum()), abs=25)
    assert min(shown["weights"]) > 0.05
    assert shown["losses"][-1] < 0.5 * shown["losses"][99]


def test_own_energy(run):
    votes = run("plot_own_energy.py")["post"].labelings().sum(1)
    assert votes.min() < 10
    assert votes.max() > 50


def test_people(run):
    pytest.importorskip("cv2")
    shown = run("plot_people.py")
    assert shown["tracks"].chosen_modes.any()
    assert shown["tracks"].violations() == []


def test_refine_scores(run):
    shown = run("plot_refine_scores.py")
    first, second = shown["post"].labelings()
    assert shown["post"].weights.min() > 0.01
    assert (first[shown["red"]] == 1).mean() > 0.95
    assert (second[shown["red"]] == 1).mean() > 0.95
    assert (first[shown["blue"]] != second[shown["blue"]]).mean() > 0.95


def test_scribbles(run):
    pytest.importorskip("skimage")
    post = run("plot_scribbles.py")["post"]
    assert len(post.modes) == 4
    assert post.weights.min() > 0.05


def test_video(run):
    pytest.importorskip("cv2")
    shown = run("plot_video.py")
    heaviest = [post.labelings()[0].any() for post in shown["posteriors"]]
    assert np.flatnonzero(~np.array(heaviest)).tolist() == [2, 5]
    assert all(labels.any() for labels in shown["found"].labels)
