"""Occluders and views from the recording, before people are found."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from recordings import save_recording
from typer.testing import CliRunner

import mixfield as mf
from mixfield.apps import fit_views, learn_occluders
from mixfield.cli import app
from mixfield.cli.scene_fit import FIT_FRAMES, _sample, fit_facts, fit_scene, fit_summary
from mixfield.io.scene_file import read_footage

pytest.importorskip("cv2")


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    return save_recording(tmp_path_factory.mktemp("recording"), mf.datasets.walking_people(2, 2, 3, rng=1))


def test_frames_are_spread_over_the_recording():
    assert _sample(3, 10) == [0, 1, 2]
    assert _sample(40, 4) == [0, 10, 20, 30]
    assert max(_sample(1001, FIT_FRAMES)) < 1001


def test_only_what_is_asked_for(recording):
    scene, footage = mf.read_scene(recording), read_footage(recording)
    masks = [footage.masks(t) for t in range(3)]
    assert fit_scene(scene, footage, occluders=False, views=False) is scene
    fitted = fit_scene(scene, footage, occluders=False, views=True)
    assert fitted.variance == fit_views(scene, masks).variance
    assert [view.observed for view in fitted.views] == [None, None]
    learnt = fit_scene(scene, footage, occluders=True, views=False)
    for ours, theirs in zip(learnt.views, learn_occluders(scene, masks).views, strict=True):
        np.testing.assert_array_equal(ours.observed, theirs.observed)
    assert learnt.variance is None


def test_what_was_found_is_said():
    scene = mf.datasets.walking_people(2, 2, 1, rng=0).scene
    view = scene.views[0]
    observed = np.ones((view.height, view.width))
    observed[: view.height // 2] = 0.0
    changed = replace(scene, views=(replace(view.grown(0.0, 0.5, 0.5), observed=observed), *scene.views[1:]))
    first, second = fit_facts(scene, changed)
    assert first["hidden"] == pytest.approx(0.5, abs=0.01)
    assert first["height"] > 1.2
    assert (second["hidden"], second["height"]) == (0.0, 1.0)
    assert "50.0 % of the pixels hide people" in fit_summary([first, second])[0]


def test_options_of_detect(recording, tmp_path):
    command = ["detect", str(recording), "--modes", "1", "--pictures", "0", "--frames", "0:1", "--json"]
    plain, fitted = (
        json.loads(CliRunner().invoke(app, [*command, "--out", str(tmp_path / name), *options]).stdout)
        for name, options in {"plain": (), "fitted": ("--fit-views", "--learn-occluders")}.items()
    )
    assert plain["scene"] == []
    assert len(fitted["scene"]) == len(mf.read_scene(recording).views)
    assert fitted["scene"][1]["variance"] > 0
