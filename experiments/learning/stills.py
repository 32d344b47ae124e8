"""A linear head on frozen scores of photographs, alone, before a mean field and before a mixture; five folds.

The fields are blended with the logits of the head, ``log p_k = log softmax(a log q_k + c logits)``, since a mean field
alone is too sure of itself.  All parameters are learned together by the likelihood of whole labelings,
``-log sum_k w_k prod_i p_k,i(y_i)``; with one mode this is the loss of pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from experiments.annotated import VOID, AnnotatedFolder, Network
from experiments.learning.training import train
from experiments.measurements import Row
from mixfield.metrics import mean_iou
from mixfield.torch import Modes, MultiModal, mixture_nll

FOLDS, STEP, N_MODES = 5, 5, 3
STEPS, JOINT_STEPS = 25, 8  # of a head, and of a trained head together with a layer
IGNORED = -100
SHRINKAGE = 3.0  # of the head to the scores themselves
FOLDERS = ("voc", "coco")


@dataclass(frozen=True, eq=False)
class Still:
    """Scores (1, L, H, W) as logarithms, colours (1, 3, H, W) and labels (1, H, W) of a reduced photograph."""

    scores: torch.Tensor
    image: torch.Tensor
    truth: torch.Tensor


class Head(torch.nn.Module):
    """``scale_l log p_l + bias_l``, or with one shared scale and no bias."""

    def __init__(self, n_labels: int, *, shared: bool = False) -> None:
        super().__init__()
        self.shrinkage = 0.0 if shared else SHRINKAGE
        self.scale = torch.nn.Parameter(torch.ones(1 if shared else n_labels, 1, 1))
        self.bias = torch.nn.Parameter(torch.zeros(n_labels, 1, 1), requires_grad=not shared)

    def forward(self, still: Still) -> Modes:
        """One mode without a field."""
        return Modes(torch.log_softmax(self.logits(still), 1)[:, None], torch.zeros(1, 1))

    def logits(self, still: Still) -> torch.Tensor:
        """(1, L, H, W)."""
        return self.scale * still.scores + self.bias

    def penalty(self) -> torch.Tensor:
        """Of the distance to the scores; a temperature alone has none."""
        return self.shrinkage * (((self.scale - 1) ** 2).mean() + (self.bias**2).mean())


class Blended(torch.nn.Module):
    """A head and the modes of a field over its logits, blended."""

    def __init__(self, head: Head, n_modes: int) -> None:
        super().__init__()
        n_labels = len(head.bias)
        self.head = head
        self.field = MultiModal(
            n_labels, n_modes, weight_exponent=1e-4, smooth_sxy=1.0, smooth_weight=1.0, sxy=67.0 / STEP, srgb=3.0,
            weight=2.0, exponent=0.8,
        )  # fmt: skip
        self.log_blend = torch.nn.Parameter(torch.tensor([0.2, 0.6]).log())

    def forward(self, still: Still) -> Modes:
        logits = self.head.logits(still)
        modes = self.field(logits, still.image)
        a, c = self.log_blend.exp()
        blended = torch.log_softmax(a * modes.log_marginals + c * logits[:, None], 2)
        return Modes(blended, modes.bounds, modes.weight_exponent)

    def penalty(self) -> torch.Tensor:
        return self.head.penalty()


def load(data: Path, count: int, network: Network = "dl513", *, first: int = 0) -> list[Still]:
    """``count`` photographs, every second of all of them from ``first`` on."""
    folders = [AnnotatedFolder(data / "segmentation" / name, network) for name in FOLDERS]
    both = [(folder, name) for folder in folders for name in folder.names][first::2]
    chosen = [both[k * len(both) // count] for k in range(min(count, len(both)))]
    return [_still(folder, name) for folder, name in chosen]


def _still(folder: AnnotatedFolder, name: str) -> Still:
    example = folder.load(name).reduced(STEP)
    scores = np.log(np.maximum(np.moveaxis(example.probs, -1, 0), 1e-6))[None]
    image = np.moveaxis(np.asarray(example.image, np.float32), -1, 0)[None]
    truth = torch.from_numpy(np.where(example.truth == VOID, IGNORED, example.truth))[None]
    return Still(torch.from_numpy(np.ascontiguousarray(scores)), torch.from_numpy(image.copy()), truth)


def measure(stills: Sequence[Still], fold: int) -> list[Row]:
    """Train on all folds but one; a row per method and held-out image."""
    held_out, training = stills[fold::FOLDS], [s for k, s in enumerate(stills) if k % FOLDS != fold]
    n_labels = stills[0].scores.shape[1]
    rows = []
    for method, model in _fitted(training, n_labels):
        rows += [{"method": method, "fold": fold, **_measures(model, still, n_labels)} for still in held_out]
    return rows


def _fitted(training: Sequence[Still], n_labels: int) -> list[tuple[str, Head | Blended]]:
    """Trained models; those with a field begin with the head that was trained alone."""
    scores, tempered, head = Head(n_labels), Head(n_labels, shared=True), Head(n_labels)
    models: list[tuple[str, Head | Blended]] = [("softmax", scores)]
    for name, alone in (("softmax at its best temperature", tempered), ("linear head", head)):
        fit(alone, training, STEPS, rate=0.05)
        models.append((name, alone))
    for name, n_modes in (("linear head and mean field", 1), (f"linear head and mixture of {N_MODES}", N_MODES)):
        joint = Head(n_labels)
        joint.load_state_dict(head.state_dict())
        model = Blended(joint, n_modes)
        fit(model, training, JOINT_STEPS, rate=0.05)
        models.append((name, model))
    return models


def fit(model: Head | Blended, stills: Sequence[Still], steps: int, *, rate: float) -> None:
    """Minimise the loss of labelings and the penalty of the head, with all images in each step."""
    learned = [parameter for parameter in model.parameters() if parameter.requires_grad]

    def pull_back() -> float:
        total = model.penalty()
        total.backward()
        value = float(total.detach())
        for still in stills:
            loss = mixture_nll(model(still), still.truth) / len(stills)
            loss.backward()
            value += float(loss.detach())
        return value

    train(learned, pull_back, steps, rate=rate)


def _measures(model: Head | Blended, still: Still, n_labels: int) -> dict[str, float]:
    """The loss of the labeling, that of pixels on their own, and the mean IoU of the most probable labels."""
    with torch.no_grad():
        modes = model(still)
        pixels = torch.logsumexp(modes.log_weights[:, :, None, None, None] + modes.log_marginals, 1)
    truth = np.where(still.truth[0].numpy() == IGNORED, VOID, still.truth[0].numpy())
    return {
        "nll": float(mixture_nll(modes, still.truth)),
        "pixel_nll": float(torch.nn.functional.nll_loss(pixels, still.truth)),
        "iou": float(mean_iou([truth], [pixels.argmax(1)[0].numpy()], n_labels)),
    }
