"""Two annotators who disagree in a systematic way: one counts the halo of an object as part of it, one does not.

Heads are linear in the colours of a pixel.  One mode cannot fit both annotators; two modes with weights can.
"""

from __future__ import annotations

import copy
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from experiments.learning.training import of_batch, train
from experiments.measurements import Row
from mixfield.torch import DenseCRF, MultiModal, mixture_nll

SIZE, TRAIN, TEST, MEMBERS, STEPS = 32, 8, 12, 5, 60
JOINT_STEPS = 20  # of a head that is trained already, together with a layer
KERNELS: dict[str, Any] = {"smooth_sxy": 1.5, "smooth_weight": 1.0, "sxy": 12.0, "srgb": 30.0, "weight": 3.0}
COLOURS = np.array([(40.0, 40.0, 40.0), (200.0, 60.0, 40.0), (120.0, 140.0, 60.0)])  # ground, object, halo
Labels = NDArray[np.int64]


def scenes(count: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Images (count, 3, H, W) and the labels of both annotators (count, 2, H, W)."""
    rng, axis = np.random.default_rng(seed), np.arange(SIZE)
    centre, radius = rng.uniform(12, 20, (count, 2, 1, 1)), rng.uniform(5, 7, (count, 1, 1))
    distance = np.hypot(axis[:, None] - centre[:, 0], axis - centre[:, 1])
    part = np.where(distance < radius, 1, np.where(distance < radius + rng.uniform(3, 5, (count, 1, 1)), 2, 0))
    images = COLOURS[part] + 25 * rng.normal(size=(count, SIZE, SIZE, 3))
    labels = np.stack([part > 0, part == 1], 1).astype(np.int64)
    return torch.tensor(np.moveaxis(images, -1, 1), dtype=torch.float32), torch.tensor(labels)


def head() -> torch.nn.Module:
    """Logits of two labels from colours and their squares."""
    torch.manual_seed(0)
    return torch.nn.Conv2d(9, 2, 1)


def features(images: torch.Tensor) -> torch.Tensor:
    """Colours, their squares and products."""
    x = images / 128 - 1
    return torch.cat([x, x * x, x * x.roll(1, 1)], 1)


def _plain_loss(net: torch.nn.Module, inputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.nll_loss(torch.log_softmax(net(inputs), 1), targets)


def measure(seed: int) -> list[Row]:
    """Train all methods; returns a row of each, on held-out images."""
    (images, labels), (new, truth) = scenes(TRAIN, 2 * seed), scenes(TEST, 2 * seed + 1)
    x, x_new = features(images), features(new)
    nll = torch.nn.functional.nll_loss

    def both(log_q: torch.Tensor) -> torch.Tensor:
        return (nll(log_q, labels[:, 0]) + nll(log_q, labels[:, 1])) / 2

    rows, rng = [], np.random.default_rng(seed)
    members, heads = [], []
    for member in range(1 + MEMBERS):
        net = head()
        chosen = torch.arange(2 * TRAIN) if member == 0 else torch.tensor(rng.integers(0, 2 * TRAIN, 2 * TRAIN))
        inputs, targets = x[chosen // 2], labels.reshape(2 * TRAIN, SIZE, SIZE)[chosen]
        train(list(net.parameters()), of_batch(partial(_plain_loss, net, inputs, targets)), STEPS)
        heads.append(net)
        with torch.no_grad():
            members.append(torch.log_softmax(net(x_new), 1))
    rows.append(_row(seed, "softmax head", members[0][:, None], truth))
    rows.append(_row(seed, "ensemble of five", torch.stack(members[1:], 1), truth))

    net, layer = copy.deepcopy(heads[0]), DenseCRF(2, **KERNELS)
    learned = [*net.parameters(), layer.log_exponent, layer.log_weights]
    train(learned, of_batch(lambda: both(layer(net(x), images))), JOINT_STEPS)
    with torch.no_grad():
        rows.append(_row(seed, "mean field", layer(net(x_new), new)[:, None], truth))

    net, modal = copy.deepcopy(heads[0]), MultiModal(2, 2, weight_exponent=1 / SIZE**2, **KERNELS)

    def mixture() -> torch.Tensor:
        modes = modal(net(x), images)
        return (mixture_nll(modes, labels[:, 0]) + mixture_nll(modes, labels[:, 1])) / 2

    learned = [*net.parameters(), modal.log_exponent, modal.log_weights, modal.log_weight_exponent]
    train(learned, of_batch(mixture), JOINT_STEPS)
    with torch.no_grad():
        modes = modal(net(x_new), new)
        rows.append(_row(seed, "mixture of two modes", modes.log_marginals, truth, modes.log_weights))
    return rows


def _row(
    seed: int, method: str, log_q: torch.Tensor, truth: torch.Tensor, log_weights: torch.Tensor | None = None
) -> Row:
    """Measures of predictions (B, K, 2, H, W) with weights (B, K), equal if not given."""
    count = log_q.shape[1]
    log_w = torch.full(log_q.shape[:2], -float(np.log(count))) if log_weights is None else log_weights
    weights, samples = log_w.exp().double().numpy(), log_q.argmax(2).numpy()
    likelihood = 0.0
    for expert in range(2):
        picked = log_q.gather(2, truth[:, None, None, expert].expand(-1, count, 1, -1, -1))
        likelihood -= float(torch.logsumexp(log_w + picked.flatten(2).sum(2), 1).mean()) / (2 * SIZE * SIZE)
    pairs = [(w, s, t) for w, s, t in zip(weights, samples, truth.numpy(), strict=True)]
    return {
        "seed": seed,
        "method": method,
        "ged": float(np.mean([_ged(*pair) for pair in pairs])),
        "matched_iou": float(np.mean([_matched(s, t) for _, s, t in pairs])),
        "nll": likelihood,
    }


def _iou(one: Labels, other: Labels) -> float:
    """Of the object."""
    either = ((one == 1) | (other == 1)).sum()
    return float(((one == 1) & (other == 1)).sum() / either) if either else 1.0


def _ged(weights: NDArray[np.float64], samples: Labels, truth: Labels) -> float:
    """Squared energy distance with d = 1 - IoU between weighted samples (K, H, W) and annotations (R, H, W)."""
    crossed = sum(w * (1 - _iou(s, t)) for w, s in zip(weights, samples, strict=True) for t in truth) / len(truth)
    own = sum(
        a * b * (1 - _iou(s, t))
        for a, s in zip(weights, samples, strict=True)
        for b, t in zip(weights, samples, strict=True)
    )
    theirs = sum(1 - _iou(s, t) for s in truth for t in truth) / len(truth) ** 2
    return float(2 * crossed - own - theirs)


def _matched(samples: Labels, truth: Labels) -> float:
    """Mean over annotations of the IoU of the best sample."""
    return float(np.mean([max(_iou(sample, one) for sample in samples) for one in truth]))
