"""`mf.segment` from end to end on small images, and on real ones where they are present."""

from __future__ import annotations

import inspect
import logging
import resource
import time
import warnings

import numpy as np
import pytest
from PIL import Image
from small_images import two_halves

import mixfield as mf
from mixfield.apps import FieldModel, entropy_gap, segmentation_energy
from mixfield.errors import MixfieldError, MixfieldWarning

FIELDS = ("smooth_sxy", "smooth_weight", "sxy", "srgb", "weight")


@pytest.fixture
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MixfieldWarning)
        yield


@pytest.mark.usefixtures("quiet")
class TestSegment:
    def test_smooths_the_scores(self):
        image, probs, truth = two_halves()
        posterior = mf.segment(image, probs, n_modes=2)
        assert posterior.shape == truth.shape
        assert (posterior.labelings()[0] == truth).mean() > (probs.argmax(-1) == truth).mean()
        assert posterior.weights.sum() == pytest.approx(1)

    def test_the_default_model_is_the_default(self):
        image, probs, _ = two_halves()
        one, other = mf.segment(image, probs, 3, rng=4), mf.segment(image, probs, 3, rng=4, model=FieldModel.default())
        np.testing.assert_array_equal(one.marginals(), other.marginals())
        np.testing.assert_array_equal(one.weights, other.weights)
        assert one.calibration is not None
        assert one.root_mode == 0

    def test_deeplabs_kernels_are_infer_with_the_weights_of_the_paper(self):
        image, probs, _ = two_halves()
        posterior = mf.segment(image, probs, 3, kernels=mf.Kernels.deeplab(), rng=4)
        other = mf.infer(mf.DenseCRF.from_probabilities(probs, image[..., None].astype(float)), 3, rng=4)
        np.testing.assert_array_equal(posterior.marginals(), other.marginals())
        np.testing.assert_array_equal(posterior.weights, other.model_weights)
        assert posterior.calibration is None

    def test_one_hot_weights_are_noted(self):
        image, probs, _ = two_halves()
        kernels = mf.Kernels.deeplab()
        posteriors = [mf.segment(image, np.clip(probs + shift, 0, 1), 2, kernels=kernels) for shift in ([0, 0.2], 0)]
        for posterior in posteriors:
            assert posterior.is_one_hot == (len(posterior.modes) > 1 and posterior.weights.max() > 0.999)
            assert any("one-hot" in note for note in posterior.notes) == posterior.is_one_hot
        assert posteriors[0].is_one_hot

    def test_is_infer_on_its_energy(self):
        image, probs, _ = two_halves()
        kernels = mf.Kernels(sxy=9, srgb=20, weight=2)
        energy = segmentation_energy(image, probs, kernels=kernels)
        posterior = mf.segment(image, probs, 3, kernels=kernels, rng=4)
        other = mf.infer(energy, 3, rng=4)
        np.testing.assert_array_equal(posterior.marginals(), other.marginals())

    def test_kinds_of_images_agree(self):
        image, probs, _ = two_halves()
        one = mf.segment(image, probs, 2).marginals()
        kinds = [image.astype(np.uint16) * 257, image / 255, image[..., None], image.astype(int)]
        for kind in kinds:
            np.testing.assert_allclose(mf.segment(kind, probs, 2).marginals(), one, atol=1e-3)
        rgba = np.dstack([image, image, image, np.arange(image.size).reshape(image.shape) % 256]).astype(np.uint8)
        np.testing.assert_array_equal(
            mf.segment(rgba, probs, 2).marginals(), mf.segment(rgba[..., :3], probs, 2).marginals()
        )

    def test_scores_need_not_sum_to_one(self):
        image, probs, _ = two_halves()
        scaled = probs * np.random.default_rng(1).uniform(0.1, 9, image.shape)[..., None]
        np.testing.assert_allclose(
            mf.segment(image, scaled, 1).marginals(), mf.segment(image, probs, 1).marginals(), atol=1e-3
        )

    def test_logits(self):
        image, probs, _ = two_halves()
        shifted = np.log(probs) + 7.0
        np.testing.assert_allclose(
            mf.segment(image, shifted, 1, logits=True).marginals(), mf.segment(image, probs, 1).marginals(), atol=1e-3
        )

    def test_zeros_and_absent_labels(self):
        image, probs, _ = two_halves()
        wide = np.concatenate([probs, np.zeros((*image.shape, 3))], -1)
        posterior = mf.segment(image, wide, 2)
        assert posterior.marginals().shape == (*image.shape, 5)
        assert posterior.labelings().max() == 1

    @pytest.mark.parametrize("shape", [(1, 1), (1, 2), (2, 1), (1, 40), (3, 2), (5, 7)])
    def test_tiny_images(self, shape):
        rng = np.random.default_rng(0)
        posterior = mf.segment(rng.integers(0, 256, (*shape, 3), np.uint8), rng.random((*shape, 3)), 2)
        assert posterior.marginals().shape == (*shape, 3)
        np.testing.assert_allclose(posterior.marginals().sum(-1), 1, atol=1e-5)

    def test_one_label_only(self):
        posterior = mf.segment(np.zeros((3, 4), np.uint8), np.ones((3, 4, 1)), 4)
        assert len(posterior.modes) == 1
        np.testing.assert_allclose(posterior.marginals(), 1)

    def test_low_resolution_and_labels_first(self):
        image, probs, _ = two_halves()
        low = probs[::2, ::2]
        assert mf.segment(image, low, 1).shape == image.shape
        np.testing.assert_array_equal(
            mf.segment(image, np.moveaxis(probs, -1, 0), 1).marginals(), mf.segment(image, probs, 1).marginals()
        )

    def test_scribbles_spread_to_their_regions(self):
        image, _, truth = two_halves()
        scribbles = np.full(image.shape, -1)
        scribbles[8, 2:10], scribbles[8, 14:22] = 0, 1
        posterior = mf.segment(image, scribbles, 1, certainty=0.99)
        np.testing.assert_array_equal(posterior.labelings()[0], truth)

    def test_certainty_matters(self):
        image, _, truth = two_halves()
        sure, unsure = (mf.segment(image, truth, 1, certainty=c).marginals()[0, 0, 0] for c in (0.99, 0.55))
        assert sure > unsure

    def test_every_kernel_parameter_matters(self):
        rng = np.random.default_rng(3)
        image, probs = rng.integers(0, 256, (12, 12), np.uint8), rng.random((12, 12, 2))
        base = {"smooth_sxy": 1.0, "smooth_weight": 1.0, "sxy": 5.0, "srgb": 40.0, "weight": 1.0}
        one = mf.segment(image, probs, 1, kernels=mf.Kernels(**base)).marginals()
        for name in FIELDS:
            other = mf.segment(image, probs, 1, kernels=mf.Kernels(**(base | {name: 1.5 * base[name]}))).marginals()
            assert np.abs(one - other).max() > 1e-3, name

    def test_swapped_axes_are_one_sentence(self):
        image, probs, _ = two_halves()
        with pytest.raises(MixfieldError, match="swapped"):
            mf.segment(image, np.swapaxes(probs, 0, 1))


def test_defaults_are_those_of_the_energy():
    options = inspect.signature(mf.DenseCRF.from_probabilities).parameters
    assert mf.Kernels() == mf.Kernels(**{name: options[name].default for name in FIELDS})


def test_deeplabs_values():
    assert mf.Kernels.deeplab() == mf.Kernels(smooth_sxy=3.0, smooth_weight=3.0, sxy=67.0, srgb=3.0, weight=4.0)


@pytest.mark.parametrize("bad", [{"sxy": 0}, {"srgb": -1}, {"weight": -2}, {"weight": float("nan")}, {"sxy": "3"}])
def test_wrong_kernels(bad):
    with pytest.raises(MixfieldError, match=next(iter(bad))):
        mf.Kernels(**bad)


@pytest.mark.usefixtures("quiet")
class TestEntropyGap:
    def test_is_positive_where_commitment_hides_doubt(self):
        image, probs, _ = two_halves()
        energy = segmentation_energy(image, probs)
        mode = mf.mean_field(energy)
        gap = entropy_gap(energy, mode)
        assert gap.shape == image.shape
        assert (gap >= 0).all()
        assert (gap <= 1 + 1e-6).all()
        assert gap.max() > 0.1

    def test_temperature_matters(self):
        image, probs, _ = two_halves()
        energy = segmentation_energy(image, probs)
        mode = mf.mean_field(energy)
        assert entropy_gap(energy, mode, temperature=1.0).max() < 1e-3
        assert entropy_gap(energy, mode, temperature=9.0).sum() > entropy_gap(energy, mode).sum()

    def test_of_another_field_is_refused(self):
        image, probs, _ = two_halves()
        energy = segmentation_energy(image, probs)
        with pytest.raises(MixfieldError, match="mode"):
            entropy_gap(energy, mf.mean_field(segmentation_energy(image[:4], probs[:4])))


@pytest.mark.usefixtures("quiet")
def test_real_likelihoods(data):
    folder = data / "segmentation" / "binary"
    with Image.open(folder / "fish_im.png") as photo, Image.open(folder / "fish_likelihood.png") as grey:
        image, likelihood = np.asarray(photo.convert("RGB")), np.asarray(grey.convert("L")) / 255
    posterior = mf.segment(image, likelihood, 2)
    labels = posterior.labelings()[0]
    assert labels.shape == image.shape[:2]
    assert (labels == (likelihood > 0.5)).mean() > 0.8


@pytest.mark.slow
@pytest.mark.usefixtures("quiet")
def test_twelve_million_pixels(caplog):
    coarse = np.random.default_rng(0).random((30, 40, 1), np.float32)
    image = np.repeat(np.repeat((255 * coarse[..., 0]).astype(np.uint8), 100, 0), 100, 1)
    started = time.perf_counter()
    posterior = mf.segment(image, np.concatenate([1 - coarse, coarse], -1), 1, solver=mf.Solver(max_iterations=10))
    seconds = time.perf_counter() - started
    gigabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    with caplog.at_level(logging.INFO):  # shown by --log-cli-level=INFO
        logging.getLogger(__name__).info("4000 x 3000, 2 labels: %.0f s, peak %.1f GB", seconds, gigabytes)
    assert gigabytes < 6
    assert posterior.shape == (3000, 4000)
    blocks = posterior.labelings()[0, 50::100, 50::100]
    sure = np.abs(coarse[..., 0] - 0.5) > 0.4
    np.testing.assert_array_equal(blocks[sure], (coarse[..., 0] > 0.5)[sure])
