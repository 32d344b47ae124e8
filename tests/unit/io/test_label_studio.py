"""Label Studio's brushes, tasks and configuration."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra.numpy import array_shapes, arrays

from mixfield.io.label_studio import brush, config, regions, task

LABELS = np.array([[0, 0, 2, 2], [0, 2, 2, 0], [0, 0, 0, 0]])
NAMES = ("sky", "sea", '<earth> & "moon"')


def words_of(content):
    """The words of a brush, read as Label Studio's decoder does, bit by bit."""
    bits = "".join(f"{byte:08b}" for byte in content)
    at = 0

    def read(count):
        nonlocal at
        at += count
        return int(bits[at - count : at], 2)

    total, word = read(32), read(5) + 1
    sizes = [read(4) + 1 for _ in range(4)]
    words = []
    while len(words) < total:
        repeats, size = read(1), sizes[read(2)]
        count = read(size) + 1
        words += [read(word)] * count if repeats else [read(word) for _ in range(count)]
    assert len(bits) - at < 8
    return words


def decoded(content, shape):
    return np.array(words_of(content), np.uint8).reshape(*shape, 4)


@given(arrays(bool, array_shapes(min_dims=2, max_dims=2, max_side=30)))
def test_brushes_are_read_back(mask):
    np.testing.assert_array_equal(decoded(brush(mask), mask.shape), 255 * mask[..., None].repeat(4, -1))


@pytest.mark.parametrize("count", [2, 4, 64, 16384, 16385, 40000])
def test_runs_of_every_length(count):
    mask = np.arange(count + 3)[None] < count
    np.testing.assert_array_equal(decoded(brush(mask), mask.shape)[..., 0] == 255, mask)


def test_a_task():
    other = np.zeros_like(LABELS)
    found = task("a b/ü?.png", [LABELS, other], [0.75, 0.25], NAMES)
    assert found["data"]["image"] == "/data/local-files/?d=a%20b/%C3%BC%3F.png"
    assert [one["score"] for one in found["predictions"]] == [0.75, 0.25]
    versions = [one["model_version"] for one in found["predictions"]]
    assert len(set(versions)) == 2  # Label Studio shows one prediction of each version
    assert "annotations" not in found
    answered = task("a.png", [LABELS], [1.0], NAMES, answer=other)
    assert answered["annotations"][0]["result"] == regions(other, NAMES)


def test_regions():
    first, second = regions(LABELS, NAMES)
    assert (first["value"]["brushlabels"], second["value"]["brushlabels"]) == (["sky"], [NAMES[2]])
    assert (first["original_width"], first["original_height"]) == (4, 3)
    np.testing.assert_array_equal(decoded(second["value"]["rle"], LABELS.shape)[..., 3] == 255, LABELS == 2)
    assert first["id"] != second["id"]


def test_the_configuration_has_the_controls_of_the_regions():
    view = ET.fromstring(config(NAMES))
    brushes = view.find("BrushLabels")
    assert [label.get("value") for label in brushes] == list(NAMES)
    region = regions(LABELS, NAMES)[0]
    assert (brushes.get("name"), brushes.get("toName")) == (region["from_name"], region["to_name"])
    assert view.find("Image").get("value") == "$image"


def test_the_sdk_of_label_studio_accepts_them():
    interfaces = pytest.importorskip("label_studio_sdk.label_interface", reason="pip install label-studio-sdk")
    brushes = pytest.importorskip("label_studio_sdk.converter.brush")
    interface = interfaces.LabelInterface(config(NAMES))
    interface.validate()
    found = task("a.png", [LABELS, LABELS.T.reshape(3, 4)], [0.75, 0.25], NAMES, answer=LABELS)
    assert interface.validate_task({"data": found["data"]})
    for prediction in found["predictions"]:
        assert interface.validate_prediction(prediction, return_errors=True) == []
    assert interface.validate_annotation(found["annotations"][0])
    words = brushes.decode_rle(found["predictions"][0]["result"][1]["value"]["rle"])
    np.testing.assert_array_equal(words.reshape(3, 4, 4)[..., 3] == 255, LABELS == 2)
