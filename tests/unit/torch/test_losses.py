"""Losses against sums over modes written out."""

from __future__ import annotations

import itertools
import math

import pytest
from torch_layers import torch

from mixfield.errors import MixfieldError
from mixfield.torch import Modes, expected_iou_choice, mixture_nll


def some_modes(n_labels=3, n_modes=4, shape=(3, 4), seed=0):
    generator = torch.Generator().manual_seed(seed)
    logits = 2 * torch.randn(2, n_modes, n_labels, *shape, dtype=torch.float64, generator=generator)
    bounds = torch.randn(2, n_modes, dtype=torch.float64, generator=generator)
    return Modes(torch.log_softmax(logits, 2), bounds)


def test_the_likelihood_of_a_mixture():
    modes = some_modes()
    targets = torch.randint(0, 3, (2, 3, 4), generator=torch.Generator().manual_seed(1))
    targets[0, 1, 2] = -100
    total = 0.0
    for b in range(2):
        likelihood, known = 0.0, 0
        for k in range(4):
            weight = math.exp(modes.bounds[b, k]) / sum(math.exp(a) for a in modes.bounds[b])
            product, known = 1.0, 0
            for i, j in itertools.product(range(3), range(4)):
                label = int(targets[b, i, j])
                if label >= 0:
                    product, known = product * math.exp(modes.log_marginals[b, k, label, i, j]), known + 1
            likelihood += weight * product
        total -= math.log(likelihood) / known / 2
    assert float(mixture_nll(modes, targets)) == pytest.approx(total, rel=1e-10)


def test_all_probabilities_of_a_small_image_sum_to_one():
    modes = some_modes(n_labels=2, shape=(1, 3))
    images = torch.tensor(list(itertools.product(range(2), repeat=3))).reshape(8, 1, 3)
    for b in range(2):
        one = Modes(modes.log_marginals[b : b + 1], modes.bounds[b : b + 1])
        total = sum(math.exp(-3 * float(mixture_nll(one, image[None]))) for image in images)
        assert total == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        (torch.zeros(2, 3, 5, dtype=torch.long), r"targets must have shape \(2, 3, 4\) to match the modes"),
        (torch.zeros(2, 3, 4), "targets must be integer labels, got torch.float32"),
        (torch.full((2, 3, 4), 3), r"targets must lie in 0..2, got 3 to 3"),
        (torch.full((2, 3, 4), -1), r"targets must lie in 0..2, got -1 to -1"),
        (torch.full((2, 3, 4), -100), "nothing but ignore_index"),
    ],
)
def test_bad_targets(targets, message):
    with pytest.raises(MixfieldError, match=message):
        mixture_nll(some_modes(), targets)


def iou(one, other):
    present = {*one.tolist(), *other.tolist()}
    each = [int(((one == l) & (other == l)).sum()) / int(((one == l) | (other == l)).sum()) for l in present]
    return sum(each) / len(each)


def test_the_choice_of_largest_expected_iou():
    modes = some_modes(seed=3)
    labels, weights = modes.labelings.flatten(2), modes.log_weights.exp()
    for b, choice in enumerate(expected_iou_choice(modes).tolist()):
        gains = []
        for one in labels[b]:
            gain = 0.0
            for weight, other in zip(weights[b], labels[b], strict=True):
                present = sorted({*one.tolist(), *other.tolist()})
                ious = [
                    int(((one == l) & (other == l)).sum()) / int(((one == l) | (other == l)).sum()) for l in present
                ]
                gain += float(weight) * sum(ious) / len(ious)
            gains.append(gain)
        assert choice == max(range(4), key=gains.__getitem__)


def test_the_choice_may_not_be_the_heaviest_mode():
    """Two similar modes together outweigh the heaviest one."""
    labels = torch.tensor([[0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 0], [1, 1, 1, 1, 0, 0]])
    log_marginals = torch.log(0.98 * torch.nn.functional.one_hot(labels, 2).double() + 0.01).movedim(-1, 1)
    modes = Modes(log_marginals[None, :, :, None], torch.log(torch.tensor([[0.4, 0.3, 0.3]]).double()))
    assert expected_iou_choice(modes).tolist()[0] != 0
