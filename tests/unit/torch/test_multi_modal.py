"""Several modes: gradients of marginals, bounds and the mixture's likelihood."""

from __future__ import annotations

import pytest
from dense_fields import WAYS
from torch_layers import batch, blobs, called, check_direction, torch

from mixfield.errors import MixfieldError
from mixfield.torch import DenseCRF, Modes, MultiModal, mixture_nll

OPTIONS = {"smooth_sxy": 1.0, "smooth_weight": 0.5, "sxy": 10.0, "srgb": 20.0, "weight": 3.0}


WEAK = {**OPTIONS, "smooth_weight": 0.05, "weight": 0.9}  # without normalisation, row sums are several


@pytest.mark.parametrize("shape", [(6, 8), (2, 4, 6)])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("compatibility", ["potts", "full"])
@pytest.mark.parametrize("n_modes", [1, 2])
def test_gradients_of_modes_bounds_and_the_likelihood(n_modes, compatibility, way, shape):
    """Those of bounds, and so of weights, where the kernels are symmetric."""
    layer = MultiModal(
        2, n_modes, **(WEAK if way == "none" else OPTIONS), compatibility=compatibility, normalization=way,
        learn_bandwidths=True, exact=True, updates=80,
    ).double()  # fmt: skip
    logits, image = blobs(*shape)
    modes = layer(logits, image)
    assert len({tuple(one.flatten().tolist()) for one in modes.labelings[0]}) == n_modes
    generator = torch.Generator().manual_seed(0)
    marginal_bar = torch.randn(modes.log_marginals.shape, dtype=torch.float64, generator=generator)
    target = modes.labelings[:, -1]
    losses = {"marginals": lambda modes: (modes.log_marginals * marginal_bar).sum()}
    if way in ("symmetric", "none"):
        losses |= {
            "bounds": lambda modes: modes.bounds @ torch.arange(1.0, n_modes + 1, dtype=torch.float64),
            "log Z": lambda modes: modes.log_z.sum(),
            "likelihood": lambda modes: 48 * mixture_nll(modes, target),
        }
    for name, loss in losses.items():
        # without normalisation marginals are nearly 0 or 1, those of label 0, whose logits are 0, nearly 1
        known = (0, 1, 2) if way != "none" else (0, 2) if name in ("bounds", "log Z") else ()
        check_direction(
            lambda x, *given, loss=loss: loss(called(layer, x, image, given)).sum(),
            [logits, *layer.parameters()], 2e-5, known=known,
        )  # fmt: skip


@pytest.mark.parametrize("shape", [(4, 6), (2, 4, 6)])
@pytest.mark.parametrize("compatibility", ["potts", "full"])
def test_gradcheck_of_two_modes(compatibility, shape):
    layer = MultiModal(2, 2, **OPTIONS, compatibility=compatibility, exact=True, updates=80).double()
    logits, image = blobs(*shape)
    learned = [parameter for parameter in layer.parameters() if parameter.requires_grad]

    def both(x, *given):
        names = [name for name, parameter in layer.named_parameters() if parameter.requires_grad]
        modes = torch.func.functional_call(layer, dict(zip(names, given, strict=True)), (x, image))
        return modes.log_marginals, modes.log_weights

    assert torch.isfinite(layer(logits, image).bounds).all()
    assert torch.autograd.gradcheck(both, (logits, *learned), eps=1e-5, atol=1e-5, fast_mode=True)


def test_the_first_mode_is_the_mean_field():
    logits, image = blobs()
    modes = MultiModal(2, 1, **OPTIONS)(logits.float(), image)
    single = DenseCRF(2, **OPTIONS, updates=50)(logits.float(), image)
    assert torch.allclose(modes.log_marginals[:, 0].exp(), single.exp(), atol=1e-3)
    assert modes.log_weights.tolist() == [[0.0]]


def test_lattices_have_the_modes_and_gradients_of_all_pairs_nearly():
    logits, image = blobs(12, 14)
    answers = []
    for exact in (False, True):
        layer = MultiModal(2, 3, **OPTIONS, exact=exact, updates=50)
        modes = layer(logits, image)
        answers.append((modes.labelings, *torch.autograd.grad(modes.log_z.sum(), [logits, layer.log_weights])))
    assert torch.equal(answers[0][0], answers[1][0])
    for one, other in zip(answers[0][1:], answers[1][1:], strict=True):
        assert torch.allclose(one, other, rtol=0.05, atol=0.05 * float(other.abs().max()))


def test_images_with_fewer_modes():
    logits, images = batch((6, 7), n_labels=2, size=1)
    modes = MultiModal(2, 3, smooth_weight=0.1, weight=0.1)(10 * logits, images)
    assert torch.isneginf(modes.bounds[0, 1:]).all()
    assert modes.log_weights[0, 0] == 0
    loss = mixture_nll(modes, modes.labelings[:, 0])
    (gradient,) = torch.autograd.grad(loss, logits)
    assert torch.isfinite(gradient).all()
    assert (gradient != 0).any()


def test_weights_are_the_softmax_of_the_bounds():
    modes = Modes(torch.zeros(1, 2, 2, 1, 1), torch.tensor([[1.0, 3.0]]))
    assert torch.allclose(modes.log_weights.exp(), torch.softmax(modes.bounds, 1))
    assert float(modes.log_z) == pytest.approx(torch.tensor([1.0, 3.0]).exp().sum().log().item())


def test_the_exponent_of_the_weights():
    layer = MultiModal(2, 2, **OPTIONS, weight_exponent=0.3)
    logits, image = blobs()
    modes = layer(logits.float(), image)
    assert torch.allclose(modes.log_weights, torch.log_softmax(0.3 * modes.bounds, 1))
    mixture_nll(modes, modes.labelings[:, 1]).backward()
    assert layer.log_weight_exponent.grad > 0  # the second mode is to get more weight


def test_bad_number_of_modes():
    with pytest.raises(MixfieldError, match="n_modes must be an integer >= 1, got 0"):
        MultiModal(2, 0)


@pytest.mark.parametrize("reentrant", [False, True])
def test_checkpoint(reentrant):
    logits, image = blobs()
    layer = MultiModal(2, 2, **OPTIONS)

    def loss(x):
        return layer(x, image).log_z.sum()

    plain = torch.autograd.grad(loss(logits), logits)[0]
    torch.utils.checkpoint.checkpoint(loss, logits, use_reentrant=reentrant).backward()
    assert torch.equal(logits.grad, plain)


def test_without_gradients():
    logits, image = blobs()
    layer = MultiModal(2, 2, **OPTIONS)
    with torch.no_grad():
        silent = layer(logits, image)
    assert silent.log_marginals.grad_fn is None
    assert torch.equal(silent.log_marginals, layer(logits, image).log_marginals)


def test_gradients_that_are_not_finite():
    logits, image = blobs()
    modes = MultiModal(2, 2, **OPTIONS)(logits, image)
    with pytest.raises(MixfieldError, match="must be finite, got NaN or infinity"):
        (modes.log_marginals * float("nan")).sum().backward()
    modes = MultiModal(2, 2, **OPTIONS)(logits, image)
    with pytest.raises(MixfieldError, match="bounds must be finite, got NaN or infinity"):
        (modes.bounds * float("nan")).sum().backward()
