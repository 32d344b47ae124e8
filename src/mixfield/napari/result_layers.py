"""Alternatives as Labels layers: updated in place when there are new strokes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield.reports.page import percent

KEY = "mixfield"  # of the metadata of a layer
PLACEMENT = ("scale", "translate", "rotate", "shear")  # of a layer in the world, as that of the strokes


def show_alternatives(
    viewer: Any, strokes: Any, labelings: NDArray[np.integer], weights: NDArray[np.floating]
) -> list[Any]:
    """Show label maps (K, *shape) as layers below the strokes, the first one visible; returns the layers.

    Layers of earlier alternatives of the same strokes are reused or removed.  ``layer.metadata["mixfield"]`` holds
    ``strokes``, the name of their layer, ``alternative``, its number from 1, and ``weight``.
    """
    earlier = {layer.metadata[KEY]["alternative"]: layer for layer in results_of(viewer, strokes)}
    for number in [number for number in earlier if number > len(labelings)]:
        viewer.layers.remove(earlier.pop(number))
    shown = []
    for number, (labels, weight) in enumerate(zip(labelings, weights.tolist(), strict=True), 1):
        metadata = {KEY: {"strokes": strokes.name, "alternative": number, "weight": weight}}
        layer = earlier.get(number) or _added(viewer, strokes, labels, metadata, visible=number == 1)
        layer.data, layer.metadata = labels, metadata
        layer.name = f"{strokes.name}: alternative {number}, weight {percent(weight)}"
        shown.append(layer)
    viewer.layers.selection.active = strokes  # the next stroke is painted there
    return shown


def results_of(viewer: Any, strokes: Any) -> list[Any]:
    """The layers with alternatives of some strokes."""
    return [layer for layer in viewer.layers if layer.metadata.get(KEY, {}).get("strokes") == strokes.name]


def _added(viewer: Any, strokes: Any, labels: NDArray[np.integer], metadata: dict[str, Any], *, visible: bool) -> Any:
    """A new layer; its metadata is set before the layer is added, as results are not offered as strokes."""
    placement = {name: getattr(strokes, name) for name in PLACEMENT}
    layer = viewer.add_labels(labels, metadata=metadata, opacity=0.5, visible=visible, **placement)
    viewer.layers.move(viewer.layers.index(layer), viewer.layers.index(strokes))
    return layer
