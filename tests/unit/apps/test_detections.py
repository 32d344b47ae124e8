"""Detections: what detectors return, and where it is on the ground."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from mixfield.apps.detections import CERTAIN, detections_in, make_detections
from mixfield.errors import MixfieldError
from mixfield.scene.camera import FromHomography

BOXES = np.array([[0.0, 10.0, 20.0, 50.0], [30.0, 10.0, 50.0, 60.0]])
SCORES = np.array([0.9, 0.4])
FEET = np.array([[10.0, 50.0], [40.0, 60.0]])


def ultralytics(names):
    found = SimpleNamespace(xyxy=BOXES, conf=SCORES, cls=np.array([0.0, 2.0]))
    return SimpleNamespace(boxes=found, names=names)


def supervision(classes=None):
    data = {} if classes is None else {"class_name": np.array(classes)}
    class_id = None if classes is None else np.arange(2)
    return SimpleNamespace(xyxy=BOXES, confidence=SCORES, class_id=class_id, data=data)


@pytest.mark.parametrize(
    "frame",
    [
        np.column_stack([BOXES, SCORES]),
        {"boxes": BOXES, "scores": SCORES, "labels": np.ones(2)},
        ultralytics({0: "pedestrian", 2: "rider"}),
        supervision(),
    ],
)
def test_boxes_of_every_kind(frame):
    found = detections_in(frame, 7)
    np.testing.assert_array_equal(found.boxes, BOXES)
    np.testing.assert_array_equal(found.scores, SCORES)
    assert found.frame.tolist() == [7, 7]
    np.testing.assert_allclose(found.on_ground([FromHomography(1, 1, np.eye(3))]), FEET)


@pytest.mark.parametrize("frame", [ultralytics({0: "person", 2: "car"}), supervision(["person", "car"])])
def test_only_people_are_kept(frame):
    np.testing.assert_array_equal(detections_in(frame).boxes, BOXES[:1])


def test_nobody_is_kept_if_nobody_is_a_person():
    assert len(detections_in(supervision(["car", "dog"])).frame) == 0


def test_points_need_no_camera_and_scores_have_a_default():
    found = detections_in([(1.0, 2.0), (3.0, 4.0)])
    np.testing.assert_array_equal(found.on_ground([]), [[1, 2], [3, 4]])
    assert (found.scores == CERTAIN).all()
    assert len(detections_in(np.zeros((0, 5))).frame) == 0
    assert len(detections_in([]).frame) == 0


def test_cameras_of_a_frame_by_position_and_by_name():
    cameras = [FromHomography(1, 1, np.eye(3), "a"), FromHomography(1, 1, np.diag([10.0, 10.0, 1.0]), "b")]
    both = detections_in([BOXES[:1], BOXES[1:]], n_cameras=2)
    np.testing.assert_allclose(both.on_ground(cameras), [FEET[0], FEET[1] / 10])
    named = make_detections([0, 0], boxes=BOXES, camera=[1, 0], cameras=("a", "b"))
    np.testing.assert_allclose(named.on_ground(cameras), [FEET[0] / 10, FEET[1]])
    with pytest.raises(MixfieldError, match="cameras up to 2"):
        make_detections([0], boxes=BOXES[:1], camera=[2]).on_ground(cameras)


def test_frames():
    found = make_detections([3, 5, 3], points=np.zeros((3, 2)))
    assert list(found.frames()) == [3, 4, 5]
    assert [len(found.of_frame(t).frame) for t in found.frames()] == [2, 0, 1]
    assert list(make_detections([]).frames()) == []


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"points": [(0, 0)], "scores": [1.5]}, r"probabilities in \[0, 1\]"),
        ({}, "need boxes"),
        ({"points": [(0, 0), (1, 1)]}, "points must have shape"),
        ({"boxes": [(0, 0, np.inf, 1)]}, "finite"),
    ],
)
def test_wrong_values_are_named(values, message):
    with pytest.raises(MixfieldError, match=message):
        make_detections([0], **values)


@pytest.mark.parametrize("frame", [np.zeros((2, 7)), {"labels": [1]}, "text", np.zeros(3)])
def test_other_objects_are_refused(frame):
    with pytest.raises(MixfieldError):
        detections_in(frame)
