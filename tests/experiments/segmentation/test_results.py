"""The numbers of the page, from all measurements and from some."""

from __future__ import annotations

import json

import numpy as np
import pytest

from experiments.segmentation.methods import methods
from experiments.segmentation.results import results


@pytest.fixture(scope="module")
def complete(complete_rows):
    return results(complete_rows, {})


@pytest.fixture(scope="module")
def partial(partial_rows):
    return results(partial_rows, {})


def test_every_method_has_its_images(complete, complete_rows):
    every = complete["parts"]["a third of the size"]["dl513"]
    assert set(every) == {*methods(), "tuned"} - {"DivMBest 0.3", "DivMBest 1", "noise 2"}
    assert (every["noise 1"]["images"], every["paper"]["images"]) == (35, 5)
    assert every["ours"]["images"] == 35
    assert len(every["ours"]["mean"]) == 4  # K = 1, 2, 4, 8
    ours = [row for row in complete_rows if (row["net"], row["step"], row["method"]) == ("dl513", 3, "ours")]
    assert every["ours"]["mean"][-1] == pytest.approx(
        np.mean([100 * (max(row["ious"][:8]) - 0.5) for row in ours]), abs=1e-3
    )


def test_every_seventh_image_has_more_segmentations(complete):
    some = complete["parts"]["every seventh image, full resolution"]["dl257"]
    assert set(some) == {*methods(), "tuned"}
    assert (len(some["ours"]["mean"]), len(some["paper"]["mean"])) == (6, 4)
    equal = complete["equal_calls"]["gains"]["8"]["dl513"]["DivMBest 0.5"]
    assert equal["segmentations"] == 8  # a segmentation costs the same in these rows


def test_full_resolution_is_used_when_it_is_complete(complete):
    assert complete["equal_calls"]["size"] == complete["ranking"]["size"] == "full resolution"
    assert "the same images, a third of the size" not in complete["parts"]
    assert json.loads(json.dumps(complete)) == complete


def test_a_size_is_used_when_most_of_its_images_are_done(partial):
    assert partial["done"] == {"full resolution": 28, "a third of the size": 70}
    assert partial["ranking"]["size"] == "a third of the size"
    for part in ("full resolution", "the same images, a third of the size"):
        assert partial["parts"][part]["dl513"]["ours"]["images"] == 14
    assert "the other half of the images, a third of the size" in partial["parts"]
