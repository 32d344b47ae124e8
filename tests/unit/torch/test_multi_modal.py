"""Several modes: gradients of marginals, bounds and the mixture's likelihood."""

from __future__ import annotations

import pytest
from torch_layers import batch, blobs, called, check_direction, torch

from mixfield.errors import MixfieldError
from mixfield.torch import DenseCRF, Modes, MultiModal, mixture_nll

OPTIONS = {"smooth_sxy": 1.0, "smooth_weight": 0.5, "sxy": 10.0, "srgb": 20.0, "weight": 3.0}


@pytest.mark.parametrize("compatibility", ["potts", "full"])
@pytest.mark.parametrize("n_modes", [1, 2])
def test_gradients_of_modes_bounds_and_the_likelihood(n_modes, compatibility):
    layer = MultiModal(
        2, n_modes, **OPTIONS, compatibility=compatibility, learn_bandwidths=True, exact=True, updates=80
    ).double()
    logits, image = blobs()
    modes = layer(logits, image)
    assert len({tuple(one.flatten().tolist()) for one in modes.labelings[0]}) == n_modes
    generator = torch.Generator().manual_seed(0)
    marginal_bar = torch.randn(modes.log_marginals.shape, dtype=torch.float64, generator=generator)
    target = modes.labelings[:, -1]
    losses = {
        "marginals": lambda modes: (modes.log_marginals * marginal_bar).sum(),
        "bounds": lambda modes: modes.bounds @ torch.arange(1.0, n_modes + 1, dtype=torch.float64),
        "log Z": lambda modes: modes.log_z.sum(),
        "likelihood": lambda modes: 48 * mixture_nll(modes, target),
    }
    for loss in losses.values():
        check_direction(
            lambda x, *given, loss=loss: loss(called(layer, x, image, given)).sum(),
            [logits, *layer.parameters()], 2e-5, known=(0, 1, 2),
        )  # fmt: skip


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
