"""Detections in files."""

from __future__ import annotations

import json

import numpy as np
import pytest

from mixfield.errors import FileFormatError
from mixfield.io import detections
from mixfield.io.detections import read_detections


def written(path, text):
    path.write_text(text, encoding="utf-8")
    return read_detections(path)


def test_tables_of_boxes_and_of_points(tmp_path):
    boxes = written(tmp_path / "a.csv", "frame,view,track_id,x,y,w,h\n0,View_001,7,1,2,3,4\n2,View_008,1,5,6,7,8\n")
    np.testing.assert_array_equal(boxes.boxes, [[1, 2, 4, 6], [5, 6, 12, 14]])
    assert boxes.cameras == ("View_001", "View_008")
    assert boxes.camera.tolist() == [0, 1]
    corners = written(tmp_path / "b.csv", "Frame, xmin,ymin,xmax,ymax,conf,camera\n4,1,2,3,4,0.5,1\n\n")
    np.testing.assert_array_equal(corners.boxes, [[1, 2, 3, 4]])
    assert (corners.scores.tolist(), corners.camera.tolist(), corners.cameras) == ([0.5], [1], ())
    points = written(tmp_path / "c.csv", "frame,x,y,score\n0,1.5,-2,0.25\n")
    np.testing.assert_array_equal(points.points, [[1.5, -2.0]])


def test_mot_text(tmp_path):
    found = written(tmp_path / "det.txt", "1,-1,10,20,5,8,0.5,-1,-1,-1\n2,3,-1,-1,-1,-1,1,2.5,3.5,0\n3 1 0 0 4 4 40\n")
    assert found.frame.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(found.boxes[0], [10, 20, 15, 28])
    np.testing.assert_array_equal(found.points[1], [2.5, 3.5])
    assert found.scores.tolist() == [0.5, 1.0, 0.95]  # 40 is no probability


def test_coco_results(tmp_path):
    records = [
        {"image_id": 3, "category_id": 1, "bbox": [1, 2, 3, 4], "score": 0.7},
        {"image_id": 3, "category_id": 18, "bbox": [1, 2, 3, 4], "score": 0.9},
        {"image_id": "cam/frame_0012.jpg", "category_id": 1, "bbox": [1, 2, 3, 4], "score": 0.6},
    ]
    found = written(tmp_path / "r.json", json.dumps(records))
    assert found.frame.tolist() == [3, 12]
    np.testing.assert_array_equal(found.boxes[0], [1, 2, 4, 6])


def test_records(tmp_path):
    found = written(tmp_path / "r.json", json.dumps([{"frame": 1, "x": 2, "y": 3, "camera": None}]))
    np.testing.assert_array_equal(found.points, [[2, 3]])
    assert len(written(tmp_path / "none.json", "[]").frame) == 0
    assert len(written(tmp_path / "none.csv", "frame,x,y\n").frame) == 0


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "x,y\n1,2\n", "line 2 has no frame"),
        ("a.csv", "frame,x\n1,2\n", "neither a box"),
        ("a.csv", "frame,x,y\n1,2,east\n", "line 2: y must be a number, got 'east'"),
        ("a.csv", "frame,x,y,score\n1,2,3,7\n", "probabilities"),
        ("a.csv", "frame,x,y\n1e300,2,3\n", "frame must be a number"),
        ("a.csv", "frame,x,y\n1e10,2,3\n", "frames must be whole numbers"),
        ("a.csv", "a" * 20_000, "more than 10000 characters"),
        ("a.txt", "1,2,3\n", "MOT needs frame"),
        ("a.json", "{}", "must hold a JSON list"),
        ("a.json", "[3]", "record 0 must be an object"),
        ("a.json", '[{"image_id": 1, "bbox": [1, 2]}]', "bbox must be"),
        ("a.json", '[{"image_id": "x", "bbox": [1, 2, 3, 4]}]', "no number"),
        ("a.yaml", "", "detections are .csv, .json or .txt"),
    ],
)
def test_wrong_files_are_named(tmp_path, name, text, message):
    with pytest.raises(FileFormatError, match=message):
        written(tmp_path / name, text)


def test_long_files_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(detections, "MAX_DETECTIONS", 2)
    with pytest.raises(FileFormatError, match="more than 2 detections"):
        written(tmp_path / "a.csv", "frame,x,y\n" + "1,2,3\n" * 3)
