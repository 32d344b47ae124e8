"""``mixfield track --follow``: the tracks of a folder that grows are those of the whole folder."""

from __future__ import annotations

import json
import threading
import time

import numpy as np
import pytest
from typer.testing import CliRunner

from experiments.tracking.doubts import doubtful_walk
from mixfield.cli import app
from mixfield.cli.track_follow import frame_number, new_files
from mixfield.errors import MixfieldError
from mixfield.io.tracks import read_csv

WINDOW = ("--window", "10", "--overlap", "3")


@pytest.fixture(scope="module")
def walk():
    return doubtful_walk(24, shape=(12, 12), people=2, rng=4)


def track(*words):
    result = CliRunner().invoke(app, ["track", *map(str, words)])
    if isinstance(result.exception, Exception):
        raise result.exception
    return result


def test_a_growing_folder_has_the_tracks_of_the_whole(walk, tmp_path):
    modes, followed, whole = tmp_path / "modes", tmp_path / "followed.csv", tmp_path / "whole.csv"
    modes.mkdir()
    for t, p in enumerate(walk.posteriors[:8]):
        p.save(modes / f"frame_{t + 5:06d}.npz")

    def write_the_rest():
        for t, p in enumerate(walk.posteriors[8:], 8):
            p.save(modes / f"frame_{t + 5:06d}.npz")
            time.sleep(0.02)

    writer = threading.Thread(target=write_the_rest)
    writer.start()
    facts = json.loads(track(modes, "--out", followed, *WINDOW, "--follow", "3", "--json").stdout)
    writer.join()
    assert (facts["frames"], facts["late"]) == (24, 0)
    track(modes, "--out", whole, *WINDOW)
    tables = [np.sort(read_csv(path), order=("identity", "frame")) for path in (followed, whole)]
    np.testing.assert_array_equal(*tables)
    assert set(tables[0]["frame"]) <= set(range(5, 29))


def test_files_come_once_in_the_order_of_their_numbers(tmp_path):
    for number in (10, 2, 100):
        (tmp_path / f"f_{number}.npz").touch()
    files = new_files(tmp_path, 0.5)
    assert [next(files)[0] for _ in range(3)] == [2, 10, 100]
    (tmp_path / "f_7.npz").touch()
    assert next(files)[0] == 7
    assert list(files) == []


def test_a_frame_that_comes_late_is_counted(walk, tmp_path):
    modes = tmp_path / "modes"
    modes.mkdir()
    for name, p in zip(("a_3.npz", "b_3.npz", "c_4.npz"), walk.posteriors, strict=False):
        p.save(modes / name)
    assert "1 frames came too late" in track(modes, "--out", tmp_path / "t.csv", "--follow", "0.1").stdout


def test_a_file_cannot_be_followed(tmp_path):
    (tmp_path / "d.csv").write_text("frame,x,y\n0,1,1\n")
    with pytest.raises(MixfieldError, match="--follow needs a folder"):
        track(tmp_path / "d.csv", "--follow", "1")


def test_the_number_of_a_frame_is_the_last_in_its_name(tmp_path):
    assert frame_number(tmp_path / "cam2_0014.npz", 3) == 14
    assert frame_number(tmp_path / "last.npz", 3) == 3
