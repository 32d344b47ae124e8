"""One mode block by block: the answer of the whole where it fits, and the bytes of `mf.segment_large`."""

from __future__ import annotations

import warnings
from dataclasses import asdict, replace

import numpy as np
import pytest
from large_images import SMALL, several_blocks

import mixfield as mf
from mixfield.apps import blockwise, segmentation
from mixfield.apps.blockwise import segment_blockwise
from mixfield.apps.field_model import FieldModel
from mixfield.errors import NotConvergedWarning
from mixfield.solvers.dispatch import critical_temperature


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(blockwise, "BLOCK", 48)


def evidence(labels=3):
    image, probs = several_blocks((112, 160), labels)
    return probs, image.astype(np.float32)


@pytest.mark.usefixtures("small_blocks")
def test_blocks_have_the_answer_of_the_whole():
    probs, picture = evidence()
    found = segment_blockwise(probs, picture, SMALL)
    whole = mf.infer(mf.DenseCRF.from_probabilities(probs, picture, **asdict(SMALL)), 1)
    assert (found.labelings() == whole.labelings()).mean() >= 0.999
    assert found.log_z == pytest.approx(whole.log_z, rel=1e-3)
    assert np.abs(found.marginals() - whole.marginals()).mean() < 1e-3
    assert found.t_max == pytest.approx(whole.t_max)
    assert found.modes[0].converged
    assert "12 blocks" in found.notes[0]


@pytest.mark.usefixtures("small_blocks")
def test_blocks_have_the_bytes_of_segment_large(tmp_path):
    probs, picture = evidence()
    found = segment_blockwise(probs, picture, SMALL)
    large = mf.segment_large(picture.astype(np.uint8), probs, tmp_path / "labels.npy", 1, kernels=SMALL, block=48)
    np.testing.assert_array_equal(found.labelings()[0], np.load(large.out))
    assert found.log_z == large.log_z


def test_one_block_is_the_whole():
    probs, picture = evidence()
    found = segment_blockwise(probs, picture, SMALL)
    whole = mf.mean_field(mf.DenseCRF.from_probabilities(probs, picture, **asdict(SMALL)))
    np.testing.assert_array_equal(found.modes[0].marginals, whole.marginals)
    assert found.log_z == pytest.approx(whole.log_z, rel=1e-6)
    assert found.notes == ()


@pytest.mark.usefixtures("small_blocks")
def test_labels_that_a_block_leaves_out_have_probability_zero_there():
    probs, picture = evidence(labels=5)
    probs = np.concatenate([probs, np.zeros_like(probs)], -1)
    probs[:, 80:] = np.roll(probs[:, 80:], 5, axis=-1)  # other labels in the right half
    marginals = segment_blockwise(probs, picture, SMALL).modes[0].marginals
    np.testing.assert_allclose(marginals.sum(-1), 1.0, atol=1e-5)
    assert not marginals[:, :48, 5:].any()
    assert not marginals[:, 144:, :5].any()
    assert not marginals.flags.writeable


@pytest.mark.usefixtures("small_blocks")
def test_threads_do_not_change_bytes():
    probs, picture = evidence()
    one, two = (segment_blockwise(probs, picture, SMALL, solver=mf.Solver(threads=threads)) for threads in (1, 2))
    np.testing.assert_array_equal(one.modes[0].marginals, two.modes[0].marginals)
    assert one.log_z == two.log_z


@pytest.mark.usefixtures("small_blocks")
def test_iteration_limits_are_reported_once_and_blocks_are_counted():
    probs, picture = evidence()
    done: list[int] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = segment_blockwise(probs, picture, SMALL, solver=mf.Solver(max_iterations=2), progress=done.append)
    assert [warning.category for warning in caught] == [NotConvergedWarning]
    assert not found.modes[0].converged
    assert done == list(range(1, 13))


@pytest.fixture(scope="module")
def model():
    """The model that ships, with kernels that reach a few pixels."""
    return replace(FieldModel.default(), kernels=SMALL, search=replace(SMALL, weight=4.0))


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize(("limit", "modes", "blockwise"), [(53760, 1, False), (53759, 1, True), (53759, 2, False)])
@pytest.mark.parametrize("modelled", [False, True])
def test_segment_solves_one_mode_of_a_large_field_blockwise(monkeypatch, model, limit, modes, blockwise, modelled):
    monkeypatch.setattr(segmentation, "LARGEST_WHOLE", limit)
    probs, picture = evidence()
    field = {"model": model} if modelled else {"kernels": SMALL}
    found = mf.segment(picture.astype(np.uint8), probs, modes, **field)
    assert any("blocks" in note for note in found.notes) == blockwise


@pytest.mark.usefixtures("small_blocks")
def test_a_model_has_the_answer_of_the_whole(monkeypatch, model):
    """Calibrated marginals too; the balance is that of the shares in the whole image."""
    probs, picture = evidence()
    whole = mf.segment(picture.astype(np.uint8), probs, 1, model=replace(model, balance=1.0))
    monkeypatch.setattr(segmentation, "LARGEST_WHOLE", 1)
    found = mf.segment(picture.astype(np.uint8), probs, 1, model=replace(model, balance=1.0))
    assert (found.labelings() == whole.labelings()).mean() >= 0.999
    assert found.log_z == pytest.approx(whole.log_z, rel=1e-3)
    assert np.abs(found.marginals() - whole.marginals()).mean() < 1e-3
    assert found.weights.tolist() == whole.weights.tolist() == [1.0]
    assert found.t_max == pytest.approx(critical_temperature(model.energy(probs, picture)))


@pytest.mark.usefixtures("small_blocks")
def test_a_model_has_the_bytes_of_segment_large(tmp_path, model):
    probs, picture = evidence()
    found = segment_blockwise(probs, picture, model)
    large = mf.segment_large(picture.astype(np.uint8), probs, tmp_path / "labels.npy", 1, model=model, block=48)
    np.testing.assert_array_equal(found.labelings()[0], np.load(large.out))
    assert found.log_z == large.log_z


def test_a_model_without_kernels_has_its_blocks_too(model):
    probs, picture = evidence()
    found = segment_blockwise(probs, picture, replace(model, kernels=None))
    costs = model.energy(probs, picture).costs.reshape(probs.shape)
    np.testing.assert_array_equal(found.labelings()[0], costs.argmin(-1))
