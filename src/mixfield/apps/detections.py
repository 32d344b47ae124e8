"""Detections of any detector: boxes or ground points with scores, and what they are on the ground."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays
from mixfield.errors import MixfieldError
from mixfield.scene.camera import Camera

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CERTAIN = 0.95  # score of a detection that has none
PERSON = "person"  # the class that is kept where a detector names its classes
SHAPES = "(k, 2) or (k, 3) for x, y in metres and score, (k, 4) or (k, 5) for left, top, right, bottom and score"


@dataclass(frozen=True, eq=False)
class Detections:
    """What detectors found, in any number of frames and cameras; one entry of each array per detection.

    Attributes
    ----------
    frame : (m,) numbers of the frames.
    boxes : (m, 4) left, top, right, bottom in pixels; NaN where a detection is a point of the ground.
    points : (m, 2) x and y on the ground in metres; NaN where a detection is a box.
    scores : (m,) probabilities; by default 0.95.
    camera : (m,) index or name of the camera of each box, as integers into ``cameras``.
    cameras : names of the cameras, where they have names.
    """

    frame: Ints
    boxes: Floats
    points: Floats
    scores: Floats
    camera: Ints
    cameras: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Detections({len(self.frame)} in {len(np.unique(self.frame))} frames)"

    def frames(self) -> range:
        """The numbers from the first frame with a detection to the last."""
        return range(int(self.frame.min()), int(self.frame.max()) + 1) if len(self.frame) else range(0)

    def of_frame(self, number: int) -> Detections:
        """Those of one frame."""
        return self._chosen(self.frame == number)

    def _chosen(self, kept: NDArray[np.bool_]) -> Detections:
        parts = self.boxes[kept], self.points[kept], self.scores[kept]
        return Detections(self.frame[kept], *parts, self.camera[kept], self.cameras)

    def on_ground(self, cameras: Sequence[Camera]) -> Floats:
        """(m, 2) points in metres: those given, and the middle of the lower edge of boxes through their camera."""
        places, index = self.points.copy(), self._camera_index(cameras)
        feet = np.stack([self.boxes[:, [0, 2]].mean(1), self.boxes[:, 3]], axis=-1)
        for c in np.unique(index[index >= 0]).tolist():
            places[index == c] = cameras[c].to_ground(feet[index == c])
        return places

    def _camera_index(self, cameras: Sequence[Camera]) -> Ints:
        """(m,) index into ``cameras`` of each box, by name where both have names, -1 for points."""
        names = {camera.name: c for c, camera in enumerate(cameras) if camera.name}
        number = [names.get(name, c) for c, name in enumerate(self.cameras)] or range(max(len(cameras), 1))
        is_box = np.isnan(self.points).any(1)
        wrong = is_box & ((self.camera < 0) | (self.camera >= len(number)))
        if wrong.any() or (is_box.any() and max((number[c] for c in self.camera[is_box]), default=0) >= len(cameras)):
            raise MixfieldError(
                f"boxes name cameras up to {int(self.camera[is_box].max())}, but the scene has {len(cameras)} "
                "calibrated cameras; give a scene of from_cameras, or a homography for each camera"
            )
        return np.where(is_box, np.array(number, np.int64)[np.where(is_box, self.camera, 0)], -1)


def make_detections(
    frame: ArrayLike,
    *,
    boxes: ArrayLike | None = None,
    points: ArrayLike | None = None,
    scores: ArrayLike | None = None,
    camera: ArrayLike | None = None,
    cameras: Sequence[str] = (),
) -> Detections:
    """`Detections` from arrays of the same length, of boxes or of points.

    Examples
    --------
    >>> make_detections([0, 0, 1], points=[(0.5, 1.0), (2.0, 1.0), (0.6, 1.0)])
    Detections(3 in 2 frames)
    """
    number = np.asarray(_arrays.floats("frame", frame)).astype(np.int64).reshape(-1)
    m = len(number)
    rectangles = np.full((m, 4), np.nan) if boxes is None else _rows("boxes", boxes, (m, 4))
    places = np.full((m, 2), np.nan) if points is None else _rows("points", points, (m, 2))
    if (np.isnan(rectangles).any(1) & np.isnan(places).any(1)).any():
        raise MixfieldError("detections need boxes (left, top, right, bottom) or points (x, y in metres)")
    certainty = np.full(m, CERTAIN) if scores is None else _rows("scores", scores, (m,))
    if ((certainty < 0) | (certainty > 1)).any():
        raise MixfieldError(f"scores must be probabilities in [0, 1], got {certainty.min()} to {certainty.max()}")
    which = np.zeros(m, np.int64) if camera is None else _rows("camera", camera, (m,)).astype(np.int64)
    return Detections(number, rectangles, places, certainty, which, tuple(cameras))


def _rows(name: str, value: ArrayLike, shape: tuple[int, ...]) -> Floats:
    array = _numbers(name, value)
    if array.size == 0:
        array = array.reshape(0, *shape[1:])
    _arrays.check_shape(name, array, shape, "to match the frames")
    if np.isinf(array).any() or (len(shape) == 1 and np.isnan(array).any()):
        raise MixfieldError(f"{name} must be finite numbers")
    return array


def _numbers(name: str, value: Any) -> Floats:
    try:
        return np.asarray(_arrays.as_numpy(name, value), np.float64)
    except (TypeError, ValueError):
        raise MixfieldError(f"{name} must be an array of numbers, got {type(value).__name__}") from None


def detections_in(frame: Any, number: int = 0, n_cameras: int = 1) -> Detections:
    """The detections of one frame, from whatever a detector returns.

    Parameters
    ----------
    frame : `Detections`; an array `SHAPES`; results of Ultralytics (``boxes.xyxy``, ``boxes.conf``) or supervision
        (``xyxy``, ``confidence``); a mapping with ``boxes`` and ``scores`` as of torchvision; or with several cameras a
        list of these, one per camera.
    number : of the frame.
    n_cameras : of the scene.
    """
    if isinstance(frame, Detections):
        return frame
    if isinstance(frame, list | tuple) and n_cameras > 1 and len(frame) == n_cameras:
        return _joined([_of_camera(one, number, c) for c, one in enumerate(frame)])
    return _of_camera(frame, number, 0)


def _of_camera(found: Any, number: int, camera: int) -> Detections:
    boxes, scores = _boxes_and_scores(found, number)
    if boxes.size == 0:
        boxes = boxes.reshape(0, 4)
    if boxes.ndim != 2 or boxes.shape[1] not in (2, 3, 4, 5):
        raise MixfieldError(f"detections of frame {number} must be {SHAPES}, got shape {boxes.shape}")
    if boxes.shape[1] in (3, 5):
        boxes, scores = boxes[:, :-1], boxes[:, -1]
    key = "points" if boxes.shape[1] == 2 else "boxes"
    k = len(boxes)
    return make_detections(np.full(k, number), **{key: boxes}, scores=scores, camera=np.full(k, camera))  # type: ignore[arg-type]


def _boxes_and_scores(found: Any, number: int) -> tuple[Floats, Floats | None]:
    """Rows and scores of the people among the results of a detector."""
    if isinstance(found, Mapping):
        boxes, scores, kept = found.get("boxes"), found.get("scores"), None
    elif hasattr(found, "boxes"):  # Ultralytics
        boxes, scores = found.boxes.xyxy, found.boxes.conf
        kept = _people(found.boxes.cls, found.names)
    elif hasattr(found, "xyxy"):  # supervision
        boxes, scores, kept = found.xyxy, found.confidence, None
        if found.class_id is not None and "class_name" in found.data:
            kept = np.asarray(found.data["class_name"]) == PERSON
    else:
        boxes, scores, kept = found, None, None
    name = f"detections of frame {number}"
    if boxes is None:
        raise MixfieldError(f"{name} must have boxes, got a mapping with {', '.join(map(str, found)) or 'nothing'}")
    rows = _numbers(name, boxes)
    certainty = None if scores is None else _numbers(name, scores)
    if kept is None or not kept.any():
        return (rows, certainty) if kept is None else (rows[:0], None)
    return rows[kept], None if certainty is None else certainty[kept]


def _people(classes: Any, names: Mapping[int, str]) -> NDArray[np.bool_]:
    """Which of the classes are people; all, if the detector has no such class."""
    number = np.asarray(_arrays.as_numpy("classes", classes)).astype(np.int64).reshape(-1)
    people = [index for index, name in dict(names).items() if name == PERSON]
    return np.isin(number, people) if people else np.ones(len(number), bool)


def _joined(parts: Sequence[Detections]) -> Detections:
    """The detections of several cameras in one."""
    return Detections(
        frame=np.concatenate([part.frame for part in parts]),
        boxes=np.concatenate([part.boxes for part in parts]),
        points=np.concatenate([part.points for part in parts]),
        scores=np.concatenate([part.scores for part in parts]),
        camera=np.concatenate([part.camera for part in parts]),
    )
