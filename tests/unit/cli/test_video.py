"""``mixfield video``: frames in a folder or a file, labels, a film and the choices."""

from __future__ import annotations

import json

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from mixfield.apps import FieldModel
from mixfield.cli import app
from mixfield.errors import MixfieldError
from mixfield.io import read_image, read_label_map
from mixfield.io.scored_frames import ScoredFrames
from mixfield.io.video_writer import VideoWriter

SHAPE = (32, 40)


@pytest.fixture
def footage(tmp_path):
    """A bright square that moves, and scores that believe in it."""
    images, scores = tmp_path / "images", tmp_path / "scores"
    images.mkdir()
    scores.mkdir()
    rng = np.random.default_rng(0)
    ground = rng.integers(0, 60, (48, 56, 3))
    for t in range(4):
        picture = ground[t : t + SHAPE[0], t : t + SHAPE[1]].copy()
        inside = np.zeros(SHAPE, bool)
        inside[8 - t : 20 - t, 10 - t : 26 - t] = True
        picture[inside] += 150
        Image.fromarray(picture.astype(np.uint8)).save(images / f"frame_{t}.png")
        front = np.where(inside, 0.8, 0.1)
        np.save(scores / f"frame_{t}.npy", np.stack([1 - front, front], -1).astype(np.float32))
    return images, scores


def run(*arguments):
    result = CliRunner().invoke(app, ["video", *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_labels_film_and_choices_are_written(footage, tmp_path):
    images, scores = footage
    out = tmp_path / "out"
    summary = json.loads(run(images, "--scores", scores, "--modes", 2, "--out", out, "--json").stdout)
    assert [row["frame"] for row in summary["frames"]] == [f"frame_{t}" for t in range(4)]
    assert summary["frames"][0]["starts"]
    for t in range(4):
        labels = read_label_map(out / "labels" / f"frame_{t}.png")
        assert labels.shape == SHAPE
        assert labels[14 - t, 18 - t] == 1
        assert (out / "mean_field" / f"frame_{t}.png").is_file()
    assert (out / "video.mp4").stat().st_size > 1000
    assert json.loads((out / "frames.json").read_text())["frames"] == summary["frames"]


def test_the_lag_does_not_change_an_easy_answer(footage, tmp_path):
    images, scores = footage
    for lag in (0, 3):
        run(images, "--scores", scores, "--modes", 2, "--out", tmp_path / str(lag), "--lag", lag)
    for name in ("frame_0.png", "frame_3.png"):
        assert (tmp_path / "0" / "labels" / name).read_bytes() == (tmp_path / "3" / "labels" / name).read_bytes()


def test_a_frame_without_scores_is_missing(footage, tmp_path):
    images, scores = footage
    (scores / "frame_1.npy").unlink()
    out = tmp_path / "out"
    rows = json.loads(run(images, "--scores", scores, "--modes", 1, "--out", out, "--json").stdout)["frames"]
    assert [row["mode"] is None for row in rows] == [False, True, False, False]
    assert rows[2]["starts"]
    assert not (out / "labels" / "frame_1.png").exists()


def test_a_stopped_run_goes_on(footage, tmp_path, monkeypatch):
    images, scores = footage
    whole, out = tmp_path / "whole", tmp_path / "out"
    words = ["video", images, "--scores", scores, "--modes", 2, "--lag", 1, "--json", "--out"]
    expected = json.loads(CliRunner().invoke(app, [*map(str, words), str(whole)]).stdout)
    modes, calls = FieldModel.modes, []

    def stopped(*arguments, **options):
        calls.append(arguments)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return modes(*arguments, **options)

    monkeypatch.setattr(FieldModel, "modes", stopped)
    result = CliRunner().invoke(app, [*map(str, words), str(out)])
    assert result.exit_code == 130
    assert "stopped (2 of 4" in result.stderr
    assert sorted(path.name for path in (out / "modes").iterdir()) == ["frame_0.npz", "frame_1.npz"]
    assert not (out / "frames.json").exists()
    again = json.loads(CliRunner().invoke(app, [*map(str, words), str(out)]).stdout)
    assert len(calls) == 3 + 2  # two frames were found, two were to do
    assert again["frames"] == expected["frames"]
    for path in whole.glob("*/*"):
        assert path.read_bytes() == (out / path.relative_to(whole)).read_bytes()
    assert (out / "video.mp4").stat().st_size == (whole / "video.mp4").stat().st_size


def test_another_caution_takes_the_same_modes(footage, tmp_path, monkeypatch):
    images, scores = footage
    words = [images, "--scores", scores, "--modes", 2, "--out", tmp_path / "out"]
    run(*words)
    monkeypatch.setattr(FieldModel, "modes", None)
    assert "the modes of 4 from an earlier run" in run(*words, "--caution", 5, "--rate", 2).stdout
    with pytest.raises(MixfieldError, match="other settings"):
        run(*words, "--seed", 1)


def test_a_frame_that_cannot_be_read_is_missing_and_named(footage, tmp_path):
    images, scores = footage
    out = tmp_path / "out"
    good = run(images, "--scores", scores, "--modes", 1, "--out", out)
    assert good.exit_code == 0
    (images / "frame_1.png").write_bytes(b"")
    result = run(images, "--scores", scores, "--modes", 1, "--out", out)
    assert result.exit_code == 1
    assert "failed: frame_1: " in result.stderr
    rows = json.loads((out / "frames.json").read_text())["frames"]
    assert [row["mode"] is None for row in rows] == [False, True, False, False]
    assert not (out / "labels" / "frame_1.png").exists()
    for name in ("frame_0.png", "frame_2.png", "frame_3.png"):
        (images / name).write_bytes(b"")
    with pytest.raises(MixfieldError, match="all 4 failed, the first, frame_0: "):
        run(images, "--scores", scores, "--modes", 1, "--out", out)


def test_a_frame_of_another_size_is_named_and_not_solved(footage, tmp_path):
    images, scores = footage
    small = read_image(images / "frame_2.png")[:24]
    Image.fromarray(small).save(images / "frame_2.png")
    np.save(scores / "frame_2.npy", np.load(scores / "frame_2.npy")[:24])
    result = run(images, "--scores", scores, "--modes", 1, "--out", tmp_path / "out")
    assert result.exit_code == 1
    message = "all frames must be alike, got (H, W) = (24, 40) with 2 labels after (H, W) = (32, 40) with 2 labels"
    assert f"failed: frame_2: {message}" in result.stderr
    rows = json.loads((tmp_path / "out" / "frames.json").read_text())["frames"]
    assert [row["mode"] is None for row in rows] == [False, False, True, False]
    assert not (tmp_path / "out" / "modes" / "frame_2.npz").exists()


def test_a_video_file_is_read_too(footage, tmp_path):
    images, scores = footage
    film = VideoWriter(tmp_path / "film.mp4", 5.0)
    for t in range(4):
        film.add(read_image(images / f"frame_{t}.png"))
        (scores / f"frame_{t}.npy").rename(scores / f"000{t}.npy")
    film.close()
    source = ScoredFrames(tmp_path / "film.mp4", scores)
    frames = source.frames()
    assert [frame.name for frame in frames] == ["0", "1", "2", "3"]
    assert [frame.scores.name for frame in frames] == ["0000.npy", "0001.npy", "0002.npy", "0003.npy"]
    first = source.picture(frames[0])
    assert first[10:18, 14:24].mean() - first[24:].mean() > 80
    words = [tmp_path / "film.mp4", "--scores", scores, "--modes", 1, "--workers", 2, "--json"]
    rows = json.loads(run(*words, "--out", tmp_path / "out").stdout)["frames"]
    assert [row["mode"] for row in rows] == [0, 0, 0, 0]


@pytest.mark.parametrize("what", ["nothing", "no images", "no scores"])
def test_nonsense_is_one_sentence(what, footage, tmp_path):
    images, scores = footage
    empty = tmp_path / "empty"
    empty.mkdir()
    source = {"nothing": tmp_path / "gone", "no images": empty, "no scores": images}[what]
    with pytest.raises(MixfieldError):
        run(source, "--scores", empty if what == "no scores" else scores, "--out", tmp_path / "out")
