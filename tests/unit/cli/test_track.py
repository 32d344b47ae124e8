"""``mixfield track``: tables, frame numbers, and one sentence for bad input."""

from __future__ import annotations

import json

import numpy as np
import pytest
from command_line import error_of
from typer.testing import CliRunner

import mixfield as mf
from experiments.tracking.doubts import doubtful_walk
from mixfield.cli import app
from mixfield.errors import MixfieldError
from mixfield.io.tracks import read_csv


@pytest.fixture(scope="module")
def modes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("modes")
    walk = mf.datasets.walking_people(1, 1, 3, rng=1)
    for t, frame in enumerate((2, 10, 100)):  # in the order of numbers, not of names
        mf.detect(walk.scene, walk.masks[t], 1).save(folder / f"frame_{frame}.npz")
    return folder


@pytest.fixture(scope="module")
def walk():
    return doubtful_walk(40, shape=(20, 20), people=4, rng=5)


@pytest.fixture
def folder(walk, tmp_path):
    for t, p in enumerate(walk.posteriors[:12]):
        p.save(tmp_path / f"frame_{t + 7:06d}.npz")
    return tmp_path


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


def test_a_field_that_is_no_ground(tmp_path):
    mf.infer(mf.FactorGraph.from_factors([2, 2], [((0, 1), [[0.0, 1.0], [1.0, 0.0]])]), 1).save(tmp_path / "f_0.npz")
    with pytest.raises(MixfieldError, match="is not about a ground"):
        track(tmp_path)


def test_the_command_returns_what_the_function_does(walk, folder, tmp_path):
    out = tmp_path / "answer.csv"
    facts = json.loads(track(folder, "--cell", 0.5, "--out", out, "--json").stdout)
    expected = mf.track(walk.posteriors[:12], walk.ground)
    assert facts["cost"] == pytest.approx(expected.cost)
    assert facts["tracks"] == len(expected.by_identity)
    table = read_csv(out)
    assert table["frame"].min() == 7
    np.testing.assert_allclose(table["x"], expected.table["x"])
    assert out.with_suffix(".txt").exists()
    assert out.with_suffix(".html").exists()
    text = track(folder, "--out", out, "--price", "printed").stdout
    for word in ("tracks in 12 frames", "from the best", "speed"):
        assert word in text


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
    assert message in error_of(monkeypatch, capsys, "track", *words)


@pytest.fixture
def fast_walk(tmp_path):
    """Somebody who walks two cells a frame, in frames 0, 2, 4, ..."""
    (tmp_path / "modes").mkdir()
    for t in range(6):
        marginals = np.zeros((3, 14, 2))
        marginals[..., 1] = 0.001
        marginals[1, 1 + 2 * t, 1] = 0.999
        marginals[..., 0] = 1 - marginals[..., 1]
        mf.MixturePosterior((mf.Mode(marginals, 0.0),)).save(tmp_path / "modes" / f"frame_{2 * t:06d}.npz")
    return tmp_path


def scene_file(folder, extra):
    """Two cameras, of which only the ground matters here."""
    walk = mf.datasets.walking_people(1, 1, 1, rng=0)
    camera = walk.scene.cameras[0]
    matrices = {"K": camera.lens.matrix, "R": camera.rotation, "t": camera.translation}
    values = {name: matrix.tolist() for name, matrix in matrices.items()}
    (folder / "c.json").write_text(json.dumps(values | {"width": camera.width, "height": camera.height}))
    text = (
        f'area = [0, 0, 3.5, 0.75]\nmargin = 0\n{extra}\n[[camera]]\ncalibration = "c.json"\nmasks = "{{frame}}.png"\n'
    )
    (folder / "scene.toml").write_text(text)
    return folder / "scene.toml"


def test_the_rate_of_the_scene_is_used_and_steps_at_the_limit_are_said(fast_walk):
    out = fast_walk / "t.csv"
    without = json.loads(track(fast_walk / "modes", "--out", out, "--doors", "anywhere", "--json").stdout)
    assert without["frame_rate"] is None
    scene = scene_file(fast_walk, "frame_rate = 8.0")
    options = (fast_walk / "modes", "--scene", scene, "--out", out, "--doors", "anywhere")
    facts = json.loads(track(*options, "--json").stdout)
    assert facts["frame_rate"] == 4.0  # every second frame was detected
    assert facts["tracks"] == 1
    assert facts["notes"] == []
    given = json.loads(track(*options, "--frame-rate", "5", "--max-speed", 2.5, "--json").stdout)
    assert given["frame_rate"] == 5.0
    assert given["steps_at_limit"] == 1.0
    assert "100 % of the steps are at the limit of 2.5 m/s at 5 frames/s" in given["notes"][0]
    assert "note: 100 % of the steps" in track(*options, "--frame-rate", "5", "--max-speed", 2.5).stdout


def test_one_cell_a_frame_is_said_if_most_steps_are_one_cell(tmp_path):
    for t in range(6):
        marginals = np.full((3, 14, 2), (0.999, 0.001))
        marginals[1, 1 + t] = 0.001, 0.999
        mf.MixturePosterior((mf.Mode(marginals, 0.0),)).save(tmp_path / f"frame_{t:06d}.npz")
    facts = json.loads(track(tmp_path, "--out", tmp_path / "t.csv", "--json").stdout)
    assert facts["steps_at_limit"] == 1.0
    assert "one cell a frame" in facts["notes"][0]
    assert "--frame-rate" in facts["notes"][0]


def test_detections_of_a_file(tmp_path):
    """Boxes through the cameras of a scene file; points of the ground need none."""
    points = "".join(f"{t},{0.3 + 0.1 * t},0.6,0.9\n" for t in range(8))
    (tmp_path / "d.csv").write_text("frame,x,y,score\n" + points)
    facts = json.loads(track(tmp_path / "d.csv", "--out", tmp_path / "t.csv", "--frame-rate", "7", "--json").stdout)
    assert (facts["tracks"], facts["frames"]) == (1, 8)
    np.testing.assert_allclose(read_csv(tmp_path / "t.csv")["x"], 0.3 + 0.1 * np.arange(8))
    scene = """area = [0, 0, 4, 4]
[[camera]]
ground_points = [[0, 0], [4, 0], [0, 4], [4, 4]]
image_points = [[100, 400], [500, 400], [200, 200], [400, 200]]
size = [640, 480]
"""
    (tmp_path / "scene.toml").write_text(scene)
    (tmp_path / "b.csv").write_text("frame,left,top,right,bottom\n0,90,300,110,400\n1,90,300,110,400\n")
    words = [tmp_path / "b.csv", "--scene", tmp_path / "scene.toml", "--out", tmp_path / "b_tracks.csv"]
    assert json.loads(track(*words, "--json").stdout)["tracks"] == 1
    np.testing.assert_allclose(read_csv(tmp_path / "b_tracks.csv")["x"], 0.0, atol=1e-6)
