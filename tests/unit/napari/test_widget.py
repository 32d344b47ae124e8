"""The widget in the real napari, off screen, and the manifest by which napari finds it."""

from __future__ import annotations

import subprocess
import sys
import time
import tomllib
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from napari_layers import flat, solid
from qtpy.QtWidgets import QApplication

from mixfield.napari.result_layers import KEY, results_of
from mixfield.napari.widget import HINT, alternatives_widget

pytestmark = pytest.mark.filterwarnings("default")
PATIENCE = 120  # seconds, for the compiler


@pytest.fixture(scope="module", autouse=True)
def application():
    return QApplication.instance() or QApplication([])


def press(widget):
    """Press the button and wait for the answer."""
    widget["run"].changed.emit(True)
    deadline = time.monotonic() + PATIENCE
    while not widget["run"].enabled and time.monotonic() < deadline:
        QApplication.processEvents()
        time.sleep(0.01)
    assert widget["run"].enabled


@pytest.mark.parametrize("layers", [flat, solid], ids=["image", "volume"])
def test_strokes_become_alternatives(layers):
    viewer, image, strokes = layers()
    widget = alternatives_widget(viewer)
    assert widget["status"].value == HINT
    assert (widget["image"].value, widget["strokes"].value) == (image, strokes)
    press(widget)
    found = results_of(viewer, strokes)
    assert 1 < len(found) <= 4
    assert f"{len(found)} found" in widget["status"].value
    assert sum(layer.metadata[KEY]["weight"] for layer in found) == pytest.approx(1)
    assert len({layer.data.tobytes() for layer in found}) == len(found)
    for layer in found:
        np.testing.assert_array_equal(layer.data[strokes.data > 0], strokes.data[strokes.data > 0])
    assert widget["strokes"].choices == (strokes,)  # results are no strokes
    count = len(viewer.layers)
    strokes.data[..., 100:110, 5:10] = 1
    widget["alternatives"].value = 2
    press(widget)
    assert len(results_of(viewer, strokes)) == 2
    assert len(viewer.layers) == count - len(found) + 2


def test_what_is_missing_is_said():
    viewer, image, strokes = flat()
    widget = alternatives_widget(viewer)
    strokes.data = np.zeros_like(strokes.data)
    press(widget)
    assert "nothing is painted" in widget["status"].value
    viewer.layers.remove(image)
    press(widget)
    assert "Add an image" in widget["status"].value
    viewer.add_image(np.zeros((5, 5)))
    press(widget)
    assert "shape" in widget["status"].value


def test_strokes_that_were_removed_meanwhile():
    viewer, _, strokes = flat()
    widget = alternatives_widget(viewer)
    widget["run"].changed.emit(True)
    viewer.layers.remove(strokes)
    press(widget)
    assert not any(KEY in layer.metadata for layer in viewer.layers)


def test_the_manifest():
    from npe2 import PluginManifest

    manifest = PluginManifest.from_file(str(files("mixfield.napari") / "napari.yaml"))
    (command,) = manifest.contributions.commands
    assert command.python_name == "mixfield.napari.widget:alternatives_widget"
    assert [widget.command for widget in manifest.contributions.widgets] == [command.id]
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["napari.manifest"] == {manifest.name: "mixfield.napari:napari.yaml"}


def test_nothing_is_loaded_before_the_widget_is_opened():
    code = "import sys, mixfield.napari; print(*{'magicgui', 'napari', 'numba', 'skimage'} & set(sys.modules))"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == ""
