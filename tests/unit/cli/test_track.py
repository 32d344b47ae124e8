"""``mixfield track``: tables, frame numbers, and one sentence for bad input."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import mixfield as mf
from mixfield.cli import app
from mixfield.errors import MixfieldError


@pytest.fixture(scope="module")
def modes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("modes")
    walk = mf.datasets.walking_people(1, 1, 3, rng=1)
    for t, frame in enumerate((2, 10, 100)):  # in the order of numbers, not of names
        mf.detect(walk.scene, walk.masks[t], 1).save(folder / f"frame_{frame}.npz")
    return folder


def track(*words):
    result = CliRunner().invoke(app, ["track", *map(str, words)])
    if isinstance(result.exception, Exception):
        raise result.exception
    return result


def test_files_and_frame_numbers(modes, tmp_path):
    out = tmp_path / "tracks.csv"
    facts = json.loads(track(modes, "--out", out, "--json").stdout)
    assert facts["frames"] == 3
    choices = json.loads(out.with_suffix(".json").read_text())
    assert choices["frame_numbers"] == [2, 10, 100]
    assert len(choices["chosen_modes"]) == 3
    for path in (out, out.with_suffix(".txt"), out.with_suffix(".html")):
        assert path.stat().st_size > 0


def test_people_read_cost_and_files(modes, tmp_path):
    out = tmp_path / "tracks.csv"
    text = track(modes, "--out", out).stdout
    for word in ("tracks in 3 frames", "cost ", "speed ", f"wrote {out}"):
        assert word in text


def test_bad_input_is_one_sentence(modes, tmp_path):
    for words, sentence in {
        (tmp_path / "none",): "no posteriors",
        (modes, "--price", "dear"): "--price must be posterior or printed, got 'dear'",
        (modes, "--out", tmp_path / "none" / "t.csv"): "does not exist",
    }.items():
        with pytest.raises(MixfieldError, match=sentence):
            track(*words)


def test_a_field_that_is_no_ground(tmp_path):
    mf.infer(mf.FactorGraph.from_factors([2, 2], [((0, 1), [[0.0, 1.0], [1.0, 0.0]])]), 1).save(tmp_path / "f_0.npz")
    with pytest.raises(MixfieldError, match="is not about a ground"):
        track(tmp_path)
