"""One block: the mean field of its window, its share of the bound, options that are refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from large_images import SMALL, several_blocks

import mixfield as mf
from mixfield.apps.blocks import blocks_of
from mixfield.errors import MixfieldError
from mixfield.large.block_evidence import ScoreOptions, block_evidence
from mixfield.large.block_field import FieldOptions, solve_block

UINT8 = np.dtype(np.uint8)


def solve(image, scores, options, mask=None, size=(128, 128), number=0):
    block = blocks_of(image.shape[:2], size, 16)[number]
    window = (*block.outer, slice(None))
    evidence = block_evidence(
        image[window], scores[window], None if mask is None else mask[block.outer], ScoreOptions()
    )
    return solve_block(evidence, block, block.core, options, UINT8, 255)


def test_one_block_is_the_mean_field():
    image, scores = several_blocks()
    result = solve(image, scores, FieldOptions(kernels=SMALL))
    energy = mf.DenseCRF.from_probabilities(scores, image, smooth_weight=1.0, sxy=8.0, srgb=20.0, weight=2.0)
    mode = mf.mean_field(energy)
    np.testing.assert_array_equal(result.labels, mode.labeling())
    assert result.log_z == pytest.approx(mode.log_z, rel=1e-5)
    assert result.converged


def test_a_model_is_used_by_default():
    image, scores = several_blocks()
    options = FieldOptions.of(1, None, None, 0, None)
    assert options.model == mf.FieldModel.default()
    mode = mf.mean_field(options.model.energy(scores, image.astype(np.float32)))
    np.testing.assert_array_equal(solve(image, scores, options).labels, mode.labeling())


def test_blocks_share_the_corners_of_the_lattice():
    """Without the origin of a block its filter differs from that of the whole by the place of its corners."""
    image, scores = several_blocks((96, 192))
    block = blocks_of((96, 192), (96, 64), 64)[1]
    whole = mf.Bilateral(image, 8.0, 20.0).filter((96, 192), 1.0, symmetric=True)
    part = image[block.outer]
    values = np.ascontiguousarray(scores.reshape(-1, 3))
    truth = whole.apply(values).reshape(96, 192, 3)[block.core]
    errors = []
    for origin in (block.origin, (5, 3)):
        small = mf.Bilateral(part, 8.0, 20.0, origin=origin).filter(block.shape, 1.0, symmetric=True)
        found = small.apply(np.ascontiguousarray(scores[block.outer].reshape(-1, 3)))
        errors.append(np.abs(found.reshape(*block.shape, 3)[block.inside(block.core)] - truth).max())
    assert errors[0] < 1e-3 < errors[1]


def test_pixels_without_data_have_no_label_and_no_share():
    image, scores = several_blocks()
    mask = np.ones(image.shape[:2], bool)
    mask[:20] = False
    result = solve(image, scores, FieldOptions(kernels=SMALL), mask)
    np.testing.assert_array_equal(result.labels == 255, ~mask)
    assert result.log_z < solve(image, scores, FieldOptions(kernels=SMALL)).log_z


def test_a_block_without_data_is_not_solved():
    image, scores = several_blocks()
    result = solve(image, scores, FieldOptions(kernels=SMALL), np.zeros(image.shape[:2], bool))
    assert (result.labels == 255).all()
    assert result.log_z == 0.0


def test_modes_give_alternatives():
    image, scores = several_blocks(seed=3)
    options = FieldOptions(3, kernels=mf.Kernels(3.0, 3.0, 8.0, 20.0, 4.0))
    found = solve(image, scores, options).alternatives
    assert found
    assert all(0 <= one.probability <= 0.5 for one in found)


def test_fewer_modes_are_the_most_useful_of_more():
    image, scores = several_blocks(seed=3)
    kernels = mf.Kernels(3.0, 3.0, 8.0, 20.0, 4.0)
    model = replace(mf.FieldModel.default(), kernels=replace(kernels, weight=1.4), search=kernels, least_gain=0.0)
    few, more = ({_described(one) for one in solve(image, scores, FieldOptions(n, model)).alternatives} for n in (3, 8))
    assert few
    assert few < more


def _described(one):
    return one.old, one.new, one.pixels, one.probability, one.changed.tobytes()


def test_bandwidths_are_those_of_the_kernels_that_are_used():
    assert FieldOptions(kernels=SMALL).bandwidths == (3.0, 8.0)
    assert set(FieldOptions(2, model=mf.FieldModel.default()).bandwidths) == {3.0, 67.0}


def test_wrong_options_are_refused():
    with pytest.raises(MixfieldError, match="not both"):
        FieldOptions.of(1, mf.FieldModel.default(), SMALL, 0, None)
    with pytest.raises(MixfieldError, match="n_modes"):
        FieldOptions.of(0, None, SMALL, 0, None)
