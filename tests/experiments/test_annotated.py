"""Annotated pictures: scores at the resolution of the image, reduced pictures, missing scores."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.annotated import AnnotatedFolder, block_means
from mixfield.errors import MixfieldError


@pytest.mark.parametrize("net", ["dl513", "dl257"])
def test_scores_have_the_resolution_of_the_image(photos, net):
    source = AnnotatedFolder(photos / "segmentation" / "voc", net)
    example = source.load("one")
    assert (source.names, source.n_labels) == (["one", "two"], 21)
    assert example.image.shape[:2] == example.truth.shape == example.probs.shape[:2]
    np.testing.assert_allclose(example.probs.sum(-1), 1, atol=1e-5)
    assert set(np.unique(example.probs.argmax(-1))) == {0, 1}


def test_davis_has_two_labels(clip):
    source = AnnotatedFolder(clip / "video" / "davis" / "square", "dl513")
    example = source.load("00")
    assert source.n_labels == example.probs.shape[-1] == 2
    assert set(np.unique(example.truth)) == {0, 1}
    np.testing.assert_allclose(example.probs.sum(-1), 1, atol=1e-5)


def test_reduced_example(clip):
    whole = AnnotatedFolder(clip / "video" / "davis" / "square", "dl513").load("00")
    small = whole.reduced(2)
    assert small.image.shape[:2] == small.truth.shape == small.probs.shape[:2] == (12, 16)
    assert small.image[3, 4] == pytest.approx(whole.image[6:8, 8:10].mean((0, 1)), abs=0.5)
    assert small.truth[3, 4] == whole.truth[7, 9]
    assert whole.reduced(1) is whole
    assert small.energy().shape == (12, 16)


def test_block_means_drop_incomplete_blocks():
    means = block_means(np.arange(35.0).reshape(5, 7, 1), 2)
    assert means.shape == (2, 3, 1)
    assert means[0, 0, 0] == np.mean([0, 1, 7, 8])


def test_missing_scores_are_named(tmp_path):
    with pytest.raises(MixfieldError, match=r"unary_dl513\.npz does not exist; give the folder .* with --data"):
        _ = AnnotatedFolder(tmp_path, "dl513").names
