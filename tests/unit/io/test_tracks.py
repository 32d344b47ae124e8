"""Tracks as files: the table, its sidecar and MOT Challenge text."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf
from mixfield.errors import FileFormatError
from mixfield.io import tracks as tracks_file
from mixfield.io.tracks import read_csv, read_sidecar, write_csv, write_mot, write_sidecar

NUMBERS = [10, 12, 14, 16]


@pytest.fixture(scope="module")
def walk():
    return mf.datasets.walking_people(2, 2, 4, setting="easy", rng=0)


@pytest.fixture(scope="module")
def tracks(walk):
    posteriors = [mf.detect(walk.scene, list(masks), 1) for masks in walk.masks]
    found = mf.track(posteriors, walk.scene, frame_rate=4.0, doors="anywhere")
    assert len(found.table)
    return found


def test_table_round_trip(tracks, tmp_path):
    write_csv(tmp_path / "t.csv", tracks, frames=NUMBERS)
    table = read_csv(tmp_path / "t.csv")
    assert table["frame"].tolist() == [NUMBERS[t] for t in tracks.table["frame"]]
    for name in set(table.dtype.names) - {"frame"}:
        np.testing.assert_array_equal(table[name], tracks.table[name])


def test_sidecar_round_trip(tracks, tmp_path):
    write_sidecar(tmp_path / "t.json", tracks, frames=NUMBERS)
    sidecar = read_sidecar(tmp_path / "t.json")
    assert sidecar.chosen_modes == dict(zip(NUMBERS, tracks.chosen_modes.tolist(), strict=True))
    assert sidecar.summary == tracks.summary()
    assert sidecar.frame_rate == 4.0


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('{"frame_numbers": [1], "chosen_modes": []}', "equal length"),
        ('{"frame_numbers": [1], "chosen_modes": [-1]}', "integers"),
        ('{"frame_rate": 0}', "frame_rate must be a positive number"),
        ('{"summary": []}', "summary must be an object"),
    ],
)
def test_damaged_sidecars(tmp_path, text, complaint):
    (tmp_path / "t.json").write_text(text)
    with pytest.raises(FileFormatError, match=complaint):
        read_sidecar(tmp_path / "t.json")


HEAD = "identity,frame,row,column,x,y,confidence\n"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", r"t\.csv: the first line must be identity,frame,row,column"),
        ("identity,frame\n", r"t\.csv: the first line must be identity,frame,row,column"),
        (HEAD + "1,x,1,1,1,1,1\n", r"t\.csv is not a table of tracks: invalid literal for int"),
        (HEAD + "1,1\n", r"t\.csv is not a table of tracks: could not assign tuple of length 2"),
        (HEAD + '"' + "1" * 200_000, r"t\.csv is not a table of tracks: field larger than field limit"),
    ],
)
def test_damaged_tables(tmp_path, text, complaint):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(FileFormatError, match=complaint):
        read_csv(tmp_path / "t.csv")


def test_tables_are_converted_in_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(tracks_file, "BLOCK", 2)
    (tmp_path / "t.csv").write_text(HEAD + "".join(f"{k},1,1,1,0.5,1,1\n" for k in range(5)))
    table = read_csv(tmp_path / "t.csv")
    assert table["identity"].tolist() == [0, 1, 2, 3, 4]
    assert (table["x"] == 0.5).all()
    (tmp_path / "t.csv").write_text(HEAD)
    assert len(read_csv(tmp_path / "t.csv")) == 0


def test_mot_has_boxes_of_a_view(walk, tracks, tmp_path):
    write_mot(tmp_path / "a.txt", tracks)
    write_mot(tmp_path / "b.txt", tracks, view=walk.scene.views[0], frames=NUMBERS)
    without, rows = (np.loadtxt(tmp_path / name, delimiter=",", ndmin=2) for name in ("a.txt", "b.txt"))
    assert (without[:, 2:6] == -1).all()
    order = np.lexsort((tracks.table["identity"], tracks.table["frame"]))
    table = tracks.table[order]
    assert rows[:, 0].tolist() == [NUMBERS[t] + 1 for t in table["frame"]]
    assert rows[:, 1].tolist() == (table["identity"] + 1).tolist()
    left, top, right, bottom = walk.scene.views[0].boxes[table["row"] * walk.scene.ground.shape[1] + table["column"]].T
    np.testing.assert_array_equal(rows[:, 2:6], np.stack([left, top, right - left, bottom - top], axis=1))
    np.testing.assert_allclose(rows[:, 7:9], np.stack([table["x"], table["y"]], axis=1), atol=1e-4)


def test_frame_numbers_of_csv_and_mot(tracks, tmp_path):
    write_csv(tmp_path / "tracks.csv", tracks, frames=range(100, 104))
    again = read_csv(tmp_path / "tracks.csv")
    assert again["frame"].min() == 100
    again["frame"] -= 100
    np.testing.assert_array_equal(again, tracks.table)
    write_mot(tmp_path / "tracks.txt", tracks)
    lines = [line.split(",") for line in (tmp_path / "tracks.txt").read_text().splitlines()]
    assert len(lines) == len(tracks.table)
    assert [int(line[0]) for line in lines] == sorted(tracks.table["frame"] + 1)
    assert all(len(line) == 10 and line[2:6] == ["-1"] * 4 for line in lines)


def test_a_wrong_table_is_named(tmp_path):
    (tmp_path / "a.csv").write_text("frame,who\n1,2\n")
    with pytest.raises(FileFormatError, match="first line must be identity,frame"):
        read_csv(tmp_path / "a.csv")
    (tmp_path / "b.csv").write_text("identity,frame,row,column,x,y,confidence\n1,2,x,4,5,6,7\n")
    with pytest.raises(FileFormatError, match="not a table of tracks"):
        read_csv(tmp_path / "b.csv")
