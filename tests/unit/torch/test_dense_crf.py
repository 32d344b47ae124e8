"""The layer: gradients, shapes, precision, and how PyTorch uses it."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from dense_fields import WAYS
from torch_layers import batch, called, torch

import mixfield as mf
from mixfield.errors import MixfieldError, NotConvergedWarning
from mixfield.torch import DenseCRF
from mixfield.torch.field import ImageField

OPTIONS = {"smooth_sxy": 1.2, "smooth_weight": 0.6, "sxy": 2.0, "srgb": 60.0, "weight": 0.4}
WEAK = {**OPTIONS, "smooth_weight": 0.15, "weight": 0.1}  # without normalisation, row sums are several


@pytest.mark.parametrize("gradient", ["unrolled", "implicit"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("compatibility", ["potts", "full"])
@pytest.mark.parametrize("shape", [(2, 3), (2, 2, 2)])
def test_gradcheck(shape, compatibility, way, gradient):
    layer = DenseCRF(
        3, **(WEAK if way == "none" else OPTIONS), compatibility=compatibility, normalization=way, gradient=gradient,
        updates=3 if gradient == "unrolled" else 100, learn_bandwidths=True, exact=True,
    ).double()  # fmt: skip
    logits, images = batch(shape, size=1, dtype=torch.float64)
    assert torch.autograd.gradcheck(
        lambda x, *given: called(layer, x, images, given), (logits, *layer.parameters()), eps=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("shape", [(12, 15), (4, 6, 7)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_marginals_are_those_of_the_library(shape, dtype):
    logits, images = batch(shape, n_labels=4, dtype=dtype)
    layer = DenseCRF(4, smooth_weight=0.5, sxy=5.0, srgb=50.0, weight=0.5, exponent=0.7, updates=6)
    log_q = layer(logits, images)
    assert log_q.shape == logits.shape
    assert log_q.dtype == dtype
    smooth_sxy, sxy, srgb = layer.bandwidths.tolist()  # a lattice is not continuous in them: one vertex more or less
    for b in range(2):
        unary = -0.7 * np.moveaxis(logits[b].detach().numpy(), 0, -1)
        image = np.moveaxis(images[b].numpy(), 0, -1)
        crf = mf.DenseCRF(unary, [mf.Gaussian(smooth_sxy, 0.5), mf.Bilateral(image, sxy, srgb, 0.5)], negligible=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConvergedWarning)
            expected = mf.mean_field(crf, solver=mf.Solver(max_iterations=6, tolerance=1e-6)).marginals
        assert log_q[b].exp().movedim(0, -1).detach().numpy() == pytest.approx(expected, abs=1e-5)


def test_gradients_of_lattices_agree_with_all_pairs():
    """Where the filters are close to the Gaussian: those of grids."""
    logits, _ = batch((10, 12))
    gradients = []
    for exact in (False, True):
        layer = DenseCRF(3, smooth_sxy=1.5, smooth_weight=1.0, updates=4, exact=exact)
        loss = -layer(logits)[:, 1].mean()
        gradients.append(torch.autograd.grad(loss, [logits, layer.log_exponent, layer.log_weights]))
    for one, other in zip(*gradients, strict=True):
        assert torch.allclose(one, other, rtol=0.02, atol=1e-5)


@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last])
def test_logits_of_any_layout_are_read_in_place(layout, monkeypatch):
    logits, images = batch((6, 7))
    read = []
    monkeypatch.setattr(
        "mixfield.torch.mean_field.ImageField", lambda *given: read.append(given[2]) or ImageField(*given)
    )
    given = logits.detach().contiguous(memory_format=layout)
    log_q = DenseCRF(3)(given, images)
    assert all(np.shares_memory(planes, given.numpy()) for planes in read)
    assert len(read) == 2
    assert torch.equal(given, logits)
    assert torch.equal(log_q, DenseCRF(3)(logits, images))


def test_losses_of_pytorch_accept_the_answer():
    logits, images = batch((6, 7), size=1)
    labels = torch.zeros(1, 6, 7, dtype=torch.long)
    torch.nn.functional.nll_loss(DenseCRF(3)(logits, images), labels).backward()
    assert (logits.grad[:, 0] < 0).all()


def test_a_batch_is_its_images_one_by_one():
    logits, images = batch((9, 11), size=3)
    layer = DenseCRF(3, srgb=60.0)
    log_q = layer(logits, images)
    together = torch.autograd.grad(log_q[:, 0].sum(), [logits, *(p for p in layer.parameters() if p.requires_grad)])
    singles = [layer(logits[b : b + 1], images[b : b + 1]) for b in range(3)]
    assert torch.equal(torch.cat(singles), log_q)
    alone = torch.autograd.grad(
        torch.cat(singles)[:, 0].sum(), [logits, *(p for p in layer.parameters() if p.requires_grad)]
    )
    for one, other in zip(together, alone, strict=True):
        assert torch.allclose(one, other, rtol=1e-5, atol=1e-6)


def test_parameters_are_positive_and_saved():
    layer = DenseCRF(3, compatibility="full", learn_bandwidths=True)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.5)
    logits, images = batch((6, 7))
    layer(logits, images)[:, 0].sum().backward()
    optimizer.step()
    assert (layer.weights > 0).all()
    assert (layer.bandwidths > 0).all()
    twin = DenseCRF(3, compatibility="full")
    twin.load_state_dict(layer.state_dict())
    assert torch.equal(twin.weights, layer.weights)
    assert set(layer.state_dict()) == {"log_exponent", "log_weights", "log_bandwidths", "compatibility"}
    assert "exponent, weights and bandwidths" in repr(DenseCRF(3))
    assert torch.equal(pickle.loads(pickle.dumps(twin)).weights, layer.weights)


def test_bandwidths_have_no_gradient_unless_wanted():
    logits, images = batch((6, 7))
    for wanted in (False, True):
        layer = DenseCRF(3, learn_bandwidths=wanted)
        layer(logits, images)[:, 0].sum().backward()
        assert (layer.log_bandwidths.grad is not None) == wanted
    assert (layer.log_bandwidths.grad != 0).all()


def test_without_gradients_nothing_is_kept():
    logits, images = batch((6, 7))
    layer = DenseCRF(3)
    with torch.no_grad():
        silent = layer(logits, images)
    assert silent.grad_fn is None
    assert torch.allclose(silent, layer(logits, images), atol=1e-5)


def test_checkpoint():
    logits, images = batch((6, 7))
    layer = DenseCRF(3)
    plain = torch.autograd.grad(layer(logits, images)[:, 0].sum(), logits)[0]
    again = torch.utils.checkpoint.checkpoint(layer, logits, images, use_reentrant=False)
    assert torch.equal(torch.autograd.grad(again[:, 0].sum(), logits)[0], plain)


class Refined(torch.utils.data.Dataset):
    """Images whose labels are refined where they are loaded."""

    def __len__(self):
        return 4

    def __getitem__(self, item):
        logits, images = batch((8, 9), size=1, seed=item)
        with torch.no_grad():
            return DenseCRF(3)(logits, images)[0]


def test_workers_of_a_data_loader():
    Refined()[0]  # threads of this process exist before workers are forked
    loaded = [
        torch.cat(list(torch.utils.data.DataLoader(Refined(), batch_size=2, num_workers=workers))) for workers in (0, 2)
    ]
    assert torch.equal(*loaded)


def test_spacing_scales_the_bandwidths_of_positions():
    logits, images = batch((3, 6, 7))
    one = DenseCRF(3, spacing=(2.0, 1.0, 1.0), smooth_sxy=2.0, sxy=4.0)(logits, images)
    other = DenseCRF(3, smooth_sxy=2.0, sxy=4.0)(logits, images)
    assert not torch.allclose(one, other)
    twice = DenseCRF(3, spacing=(2.0, 2.0, 2.0), smooth_sxy=4.0, sxy=8.0)(logits, images)
    assert torch.allclose(twice, other, atol=1e-5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"updates": 0}, "updates must be an integer >= 1, got 0"),
        ({"gradient": "exact"}, "gradient must be one of unrolled, implicit, got 'exact'"),
        ({"compatibility": "none"}, "compatibility must be 'potts' or 'full', got 'none'"),
        ({"normalization": "both"}, "normalization must be one of"),
        ({"weight": 0.0}, "weight must be a finite number above 0, got 0.0"),
        ({"spacing": (1.0, 0.0)}, "spacing must be a finite number above 0"),
    ],
)
def test_bad_settings(options, message):
    with pytest.raises(MixfieldError, match=message):
        DenseCRF(3, **options)


def test_spacing_of_other_axes():
    logits, images = batch((6, 7))
    with pytest.raises(MixfieldError, match="spacing must have one number per axis of the images, 2, got 3"):
        DenseCRF(3, spacing=(1.0, 1.0, 1.0))(logits, images)
