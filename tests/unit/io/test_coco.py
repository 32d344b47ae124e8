"""COCO's run-length encoding and panoptic pictures."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from mixfield.io.coco import (
    LabelledImage,
    coco_document,
    compressed,
    panoptic_document,
    panoptic_name,
    panoptic_pixels,
    rle_counts,
)

LABELS = np.array([[0, 0, 2, 2], [0, 2, 2, 0], [0, 0, 0, 0]])


def counts_of(text):
    """The inverse of `compressed`, as rleFrString of pycocotools."""
    counts, at = [], 0
    while at < len(text):
        value, shift, more = 0, 0, True
        while more:
            c = ord(text[at]) - 48
            value |= (c & 0x1F) << (5 * shift)
            more = bool(c & 0x20)
            at, shift = at + 1, shift + 1
            if not more and c & 0x10:
                value |= -1 << (5 * shift)
        counts.append(value + counts[-2] if len(counts) > 2 else value)
    return counts


def decoded(segmentation):
    flat, value = [], False
    for count in counts_of(segmentation["counts"]):
        flat += [value] * count
        value = not value
    return np.array(flat, bool).reshape(segmentation["size"], order="F")


def test_counts_go_down_the_columns_and_begin_with_zeros():
    assert rle_counts(np.array([[0, 1], [1, 1]], bool)) == [1, 3]
    assert rle_counts(np.array([[1, 0], [0, 0]], bool)) == [0, 1, 3]
    assert rle_counts(np.zeros((2, 3), bool)) == [6]


def test_a_text_of_pycocotools():
    """``encode(np.asfortranarray([[0, 1], [1, 1]]))`` is b'13'; long runs take several characters."""
    assert compressed([1, 3]) == "13"
    assert compressed([6]) == "6"
    assert counts_of(compressed([0, 100_000, 7, 3, 100_000])) == [0, 100_000, 7, 3, 100_000]


@given(arrays(bool, array_shapes(min_dims=2, max_dims=2, max_side=40)))
def test_masks_are_read_back(mask):
    segmentation = {"size": list(mask.shape), "counts": compressed(rle_counts(mask))}
    np.testing.assert_array_equal(decoded(segmentation), mask)


@given(st.lists(st.integers(0, 2**31), min_size=1, max_size=20))
def test_any_counts_are_read_back(counts):
    assert counts_of(compressed(counts)) == counts


@pytest.fixture
def images():
    return [
        LabelledImage("a.b.jpg", [LABELS, LABELS * 0], (0.75, 0.25)),
        LabelledImage("c.png", [np.full((2, 2), 300)], (1.0,)),
    ]


def test_coco_documents(images):
    document = coco_document(images, ("sky", "tree", "cat"))
    assert document["images"][0] == {"id": 1, "file_name": "a.b.jpg", "height": 3, "width": 4}
    assert [category["name"] for category in document["categories"]] == ["sky", "tree", "cat", "label 300"]
    assert [entry["id"] for entry in document["annotations"]] == [1, 2, 3, 4]
    cat = document["annotations"][1]
    assert (cat["image_id"], cat["category_id"], cat["mode"], cat["score"]) == (1, 2, 1, 0.75)
    assert (cat["area"], cat["bbox"], cat["iscrowd"]) == (4, [1, 0, 3, 2], 0)
    np.testing.assert_array_equal(decoded(cat["segmentation"]), LABELS == 2)


def test_panoptic_documents_fit_their_pictures(images):
    document = panoptic_document(images)
    for image, annotation in zip(images, document["annotations"], strict=True):
        pixels = panoptic_pixels(image.labelings[0]).astype(int)
        ids, areas = np.unique(pixels @ [1, 256, 65536], return_counts=True)
        assert [segment["id"] for segment in annotation["segments_info"]] == ids.tolist()
        assert [segment["area"] for segment in annotation["segments_info"]] == areas.tolist()
        assert annotation["file_name"] == panoptic_name(image)
    assert panoptic_name(images[0]) == "a.b.png"
    assert {segment["category_id"] for segment in document["annotations"][0]["segments_info"]} == {0, 2}
