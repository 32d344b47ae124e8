"""A linear head on frozen scores of photographs, trained alone and through the layer; five folds, held-out images."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from experiments.annotated import VOID, AnnotatedFolder
from experiments.measurements import Row
from mixfield.metrics import mean_iou
from mixfield.torch import DenseCRF

FOLDS, STEP, STEPS = 5, 5, 20
METHODS = (
    "softmax",
    "softmax at its best temperature",
    "linear head",
    "linear head and mean field",
    "temperature and mean field",
)


@dataclass(frozen=True, eq=False)
class Still:
    """Scores (1, L, H, W) as logarithms, colours (1, 3, H, W) and labels (1, H, W) of a reduced photograph."""

    scores: torch.Tensor
    image: torch.Tensor
    truth: torch.Tensor


class Head(torch.nn.Module):
    """``scale_l log p_l + bias_l``."""

    def __init__(self, n_labels: int, *, shared: bool = False) -> None:
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(1 if shared else n_labels, 1, 1))
        self.bias = torch.nn.Parameter(torch.zeros(n_labels, 1, 1), requires_grad=not shared)

    def forward(self, scores: torch.Tensor) -> torch.Tensor:
        return self.scale * scores + self.bias


def load(data: Path, count: int) -> list[Still]:
    """``count`` photographs, spread over the set."""
    folder = AnnotatedFolder(data / "segmentation" / "voc", "dl513")
    names = folder.names[:: max(1, len(folder.names) // count)][:count]
    stills = []
    for example in (folder.load(name).reduced(STEP) for name in names):
        scores = np.log(np.maximum(np.moveaxis(example.probs, -1, 0), 1e-6))[None]
        image = np.moveaxis(np.asarray(example.image, np.float32), -1, 0)[None]
        truth = torch.from_numpy(np.where(example.truth == VOID, -100, example.truth))[None]
        stills.append(Still(torch.from_numpy(np.ascontiguousarray(scores)), torch.from_numpy(image.copy()), truth))
    return stills


def measure(stills: list[Still], fold: int) -> list[Row]:
    """Train on all folds but one; a row per method and held-out image."""
    held_out, training = stills[fold::FOLDS], [s for k, s in enumerate(stills) if k % FOLDS != fold]
    n_labels = stills[0].scores.shape[1]
    layer, small = (
        DenseCRF(n_labels, smooth_sxy=1.0, smooth_weight=0.3, sxy=67.0 / STEP, srgb=8.0, weight=0.3, updates=5)
        for _ in range(2)
    )
    alone, joint, shared = Head(n_labels), Head(n_labels), Head(n_labels, shared=True)
    methods: dict[str, tuple[Callable[[Still], torch.Tensor], list[Any]]] = {
        METHODS[0]: (lambda still: torch.log_softmax(still.scores, 1), []),
        METHODS[1]: (lambda still: torch.log_softmax(shared(still.scores), 1), [shared.scale]),
        METHODS[2]: (lambda still: torch.log_softmax(alone(still.scores), 1), list(alone.parameters())),
        METHODS[3]: (lambda still: layer(joint(still.scores), still.image), [*joint.parameters(), layer.log_weights]),
        METHODS[4]: (lambda still: small(still.scores, still.image), [small.log_exponent, small.log_weights]),
    }
    rows = []
    for method, (log_q, parameters) in methods.items():
        if parameters:
            _train(log_q, parameters, training)
        rows += [{"method": method, "fold": fold, **_measures(log_q, still, n_labels)} for still in held_out]
    return rows


def _loss(log_q: torch.Tensor, still: Still) -> torch.Tensor:
    return torch.nn.functional.nll_loss(log_q, still.truth)


def _train(log_q: Callable[[Still], torch.Tensor], parameters: list[Any], stills: list[Still]) -> None:
    """Adam, all images in each step."""
    optimizer = torch.optim.Adam(parameters, lr=0.08)
    for _ in range(STEPS):
        optimizer.zero_grad()
        for still in stills:
            (_loss(log_q(still), still) / len(stills)).backward()
        optimizer.step()


def _measures(log_q: Callable[[Still], torch.Tensor], still: Still, n_labels: int) -> dict[str, float]:
    with torch.no_grad():
        answer = log_q(still)
    truth = np.where(still.truth[0].numpy() == -100, VOID, still.truth[0].numpy())
    iou = mean_iou([truth], [answer.argmax(1)[0].numpy()], n_labels)
    return {"nll": float(_loss(answer, still)), "iou": float(iou)}
