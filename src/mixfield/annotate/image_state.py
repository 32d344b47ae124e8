"""What the page shows of an image, as JSON: pictures are data URIs, subsampled where they are large."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield._pictures import intensities
from mixfield.annotate.doubt import expected_error
from mixfield.annotate.folder import AnnotationFolder
from mixfield.annotate.open_image import OpenImage
from mixfield.apps.annotation import Suggestion
from mixfield.interactive.annotation_actions import Stroke
from mixfield.io.images import pillow
from mixfield.reports.data_uri import png_uri, sampling_step
from mixfield.reports.palette import CHANGED, GROUP, Color, hex_color, label_colors

State = dict[str, Any]

MAX_SIDE = 1600  # pixels of a label map on the page
JPEG_QUALITY = 92


def folder_state(folder: AnnotationFolder) -> State:
    """Labels, images and progress of a folder."""
    colors = [hex_color(tuple(color)) for color in label_colors()[: len(folder.names)].tolist()]
    images = [
        {
            "name": source.image.name,
            "started": folder.is_started(k),
            "done": folder.is_done(k),
            "doubt": folder.doubt(k),
        }
        for k, source in enumerate(folder.sources)
    ]
    labels = [{"name": name, "color": color} for name, color in zip(folder.names, colors, strict=True)]
    return {"labels": labels, "images": images, "next": folder.next_image()}


def answer_state(folder: AnnotationFolder, index: int) -> State:
    """The labels of an image now, with its strokes: what the page shows first after an action."""
    with folder.lock:
        opened = folder.open(index)
        annotation, (height, width) = opened.annotation, opened.annotation.shape
        step = sampling_step((height, width), MAX_SIDE)
        return {
            "index": index,
            "name": folder.sources[index].image.name,
            "width": width,
            "height": height,
            "step": step,
            "revision": opened.revision,
            "actions": len(annotation.actions),
            "labels": _labels_uri(annotation.labels(), step),
            "strokes": [_stroke(action) for action in annotation.actions if isinstance(action, Stroke)],
        }


def image_state(folder: AnnotationFolder, index: int) -> State:
    """`answer_state` with the alternatives (none if there is nothing to choose), the question and the doubt."""
    with folder.lock:
        state, opened = answer_state(folder, index), folder.open(index)
        suggestions = opened.suggestions()
        folder.set_doubt(index, expected_error(suggestions))
        shown, step = opened.annotation.labels(), state["step"]
        cards = [_suggestion(one, shown, step) for one in suggestions]
        return state | {
            "doubt": folder.doubt(index),
            "suggestions": cards if len(cards) > 1 else [],
            "question": _question(opened, step),
        }


def picture_file(image: NDArray[Any]) -> bytes:
    """An image as a JPEG file, which every browser shows."""
    stream = io.BytesIO()
    pixels = np.rint(intensities(image)).astype(np.uint8)
    shown = pixels[..., 0] if pixels.shape[-1] < 3 else pixels[..., :3]
    pillow().fromarray(np.ascontiguousarray(shown)).save(stream, format="JPEG", quality=JPEG_QUALITY)
    return stream.getvalue()


def _stroke(stroke: Stroke) -> State:
    return {"points": [list(point) for point in stroke.points], "label": stroke.label, "radius": stroke.radius}


def _suggestion(one: Suggestion, shown: NDArray[Any], step: int) -> State:
    return {
        "weight": one.weight,
        "differs": float(one.differs.mean()),
        "shown": bool(np.array_equal(one.labels, shown)),
        "labels": _labels_uri(one.labels, step),
        "mask": _mask_uri(one.differs, step, CHANGED),
    }


def _question(opened: OpenImage, step: int) -> State | None:
    question = opened.question()
    if question is None:
        return None
    return {"text": question.text, "mask": _mask_uri(question.region, step, GROUP)}


def _labels_uri(labels: NDArray[Any], step: int) -> str:
    small = np.ascontiguousarray(labels[::step, ::step], np.uint8)
    return png_uri(small, label_colors(), transparent=0)


def _mask_uri(mask: NDArray[np.bool_], step: int, color: Color) -> str:
    small = np.ascontiguousarray(mask[::step, ::step], np.uint8)
    return png_uri(small, np.array([(0, 0, 0), color], np.uint8), transparent=0)
