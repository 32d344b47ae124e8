"""The widget: choose an Image and a Labels layer, get alternatives as layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from magicgui.widgets import ComboBox, Container, Label, PushButton, SpinBox
from napari.layers import Image, Labels
from napari.qt.threading import create_worker

from mixfield.errors import MixfieldError
from mixfield.napari.result_layers import KEY, show_alternatives
from mixfield.napari.stroked_image import StrokedImage

MOST = 16  # alternatives
HINT = "Paint label 1 over a part of the background and 2, 3, ... over parts of the objects, or one label alone."
WORKING = "Looking for alternatives ..."


def alternatives_widget(napari_viewer: Any) -> Container:
    """The widget of a viewer, as napari opens it from its menu of plug-ins."""
    image = ComboBox(name="image", label="image", choices=lambda _: _layers(napari_viewer, Image))
    strokes = ComboBox(name="strokes", label="strokes", choices=lambda _: _layers(napari_viewer, Labels))
    count = SpinBox(name="alternatives", label="alternatives", value=4, min=1, max=MOST)
    run, status = PushButton(name="run", text="Segment"), Label(name="status", value=HINT)
    widget = Container(widgets=[image, strokes, count, run, status])
    for event in (napari_viewer.layers.events.inserted, napari_viewer.layers.events.removed):
        event.connect(lambda _: (image.reset_choices(), strokes.reset_choices()))
    run.changed.connect(lambda _: _segment(napari_viewer, widget))
    return widget


def _layers(viewer: Any, kind: Any) -> list[Any]:
    """Layers to choose from: those of a kind that are no results."""
    return [layer for layer in viewer.layers if isinstance(layer, kind) and KEY not in layer.metadata]


def _segment(viewer: Any, widget: Container) -> Any:
    """Start to look for alternatives beside the interface; they are shown when they are there."""
    image, strokes = widget["image"].value, widget["strokes"].value
    try:
        if image is None or strokes is None:
            raise MixfieldError("Add an image, and a Labels layer with strokes.")
        given = StrokedImage.of(image, strokes)
    except MixfieldError as error:
        widget["status"].value = str(error)
        return None
    widget["status"].value, widget["run"].enabled = WORKING, False
    answers: dict[str, Callable[..., object]] = {
        "returned": lambda found: _show(viewer, widget, strokes, *found),
        "errored": lambda error: _say(widget, str(error)),
        "finished": lambda: setattr(widget["run"], "enabled", True),
    }
    return create_worker(given.alternatives, widget["alternatives"].value, _connect=answers)


def _show(viewer: Any, widget: Container, strokes: Any, labelings: Any, weights: Any) -> None:
    if strokes not in viewer.layers:
        return _say(widget, f"{strokes.name!r} was removed meanwhile.")
    show_alternatives(viewer, strokes, labelings, weights)
    others = "no other one differs" if len(weights) == 1 else "the others are hidden below it"
    _say(widget, f"{len(weights)} found; the first is shown, {others}. Their weights are not calibrated.")


def _say(widget: Container, text: str) -> None:
    widget["status"].value = text
