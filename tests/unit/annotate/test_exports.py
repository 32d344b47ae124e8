"""Files for other tools."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from annotating import NAMES, doubtful_click, opened
from PIL import Image

from mixfield.annotate.exports import FORMATS, download, exported, png_names, write_export
from mixfield.errors import MixfieldError
from mixfield.io.images import pascal_palette


@pytest.fixture
def folder(tmp_path):
    made = opened(tmp_path)
    x, y = doubtful_click()
    image = made.open(1)
    image.perform({"kind": "click", "x": x, "y": y, "label": 1})
    image.perform({"kind": "choose", "k": 1, "revision": image.revision})
    return made


@pytest.fixture
def labels(folder):
    return folder.open(1).annotation.labels()


def test_indexed_png(folder, labels):
    ((name, content),) = exported(folder, "png").items()
    assert name == "b.png"
    picture = Image.open(io.BytesIO(content))
    assert picture.mode == "P"
    np.testing.assert_array_equal(np.asarray(picture), labels)
    assert picture.getpalette()[:6] == pascal_palette()[:2].ravel().tolist()


def test_label_maps_have_the_names_that_fit_takes():
    assert png_names(["b.png", "c.jpg"]) == {"b.png": "b.png", "c.jpg": "c.png"}
    both = png_names(["a.bmp", "a.jpg", "a.jpg.gif", "b.png"])
    assert both == {"a.bmp": "a.bmp.png", "a.jpg": "a.jpg.png", "a.jpg.gif": "a.jpg.gif.png", "b.png": "b.png"}


def test_coco(folder, labels):
    document = json.loads(exported(folder, "coco")["coco.json"])
    assert [image["file_name"] for image in document["images"]] == ["b.png"]
    assert {one["category_id"]: one["area"] for one in document["annotations"]} == {
        label: int((labels == label).sum()) for label in (0, 1)
    }
    assert [category["name"] for category in document["categories"]] == list(NAMES)


def test_label_studio(folder):
    files = exported(folder, "label-studio")
    (task,) = json.loads(files["label_studio.json"])
    suggestions = folder.open(1).annotation.suggest()
    assert [one["score"] for one in task["predictions"]] == [one.weight for one in suggestions]
    assert "annotations" not in task
    assert b"astronaut" in files["label_studio.xml"]
    folder.mark_done(1, True)
    (task,) = json.loads(exported(folder, "label-studio")["label_studio.json"])
    assert len(task["annotations"]) == 1


def test_stack(folder, labels):
    stack = np.load(io.BytesIO(exported(folder, "stack")["b.png.npz"]))
    suggestions = folder.open(1).annotation.suggest()
    np.testing.assert_array_equal(stack["labels"], [one.labels for one in suggestions])
    np.testing.assert_array_equal(stack["weights"], [one.weight for one in suggestions])
    np.testing.assert_array_equal(stack["answer"], labels)
    assert stack["names"].tolist() == list(NAMES)


@pytest.mark.parametrize("kind", FORMATS)
def test_files_and_downloads_are_the_same(folder, tmp_path, kind):
    written = write_export(folder, kind, tmp_path / "out" / kind)
    assert {path.name: path.read_bytes() for path in written} == exported(folder, kind)
    name, content = download(folder, kind)
    assert name == ("coco.json" if kind == "coco" else f"{kind}.zip")
    assert content.startswith(b"{" if kind == "coco" else b"PK")


def test_nothing_to_export(tmp_path):
    folder = opened(tmp_path)
    with pytest.raises(MixfieldError, match="no image is annotated yet"):
        exported(folder, "png")
    with pytest.raises(MixfieldError, match="must be one of png, coco, label-studio, stack, got 'x'"):
        exported(folder, "x")
