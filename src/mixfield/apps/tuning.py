"""Choose the kernels of a dense CRF by cross-validation on annotated images."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays
from mixfield.apps.evidence import probabilities
from mixfield.apps.kernels import Kernels
from mixfield.apps.segmentation import segmentation_energy
from mixfield.errors import MixfieldError
from mixfield.metrics.segmentation import VOID, average, confusion
from mixfield.solvers.mean_field import mean_field
from mixfield.solvers.options import Solver

Counts = NDArray[np.int64]
Example = tuple[ArrayLike, ArrayLike, ArrayLike]

TOLERANCE = 1e-2  # of mean field: enough for labels
GRID = tuple(
    replace(Kernels(), sxy=sxy, srgb=srgb, weight=weight)
    for sxy, srgb, weight in product((33.0, 67.0), (3.0, 6.0, 12.0), (2.0, 4.0, 8.0))
)


@dataclass(frozen=True)
class Tuning:
    """The result of cross-validation.

    Attributes
    ----------
    kernels : the best setting on all images if it beats the defaults on held-out images, else the defaults.
    grid : the settings tried, and ``mean_ious``, the mean IoU of each on all images together.
    held_out : mean IoU on all images if each fold is segmented with the best setting of the other folds.
    defaults : mean IoU of the default kernels.
    scores : mean IoU of the most probable label of each pixel, without a CRF.
    """

    kernels: Kernels
    grid: tuple[Kernels, ...]
    mean_ious: tuple[float, ...]
    held_out: float
    defaults: float
    scores: float


def tune(
    examples: Iterable[Example],
    *,
    grid: Sequence[Kernels] = GRID,
    folds: int = 5,
    void: int = VOID,
    logits: bool = False,
    solver: Solver | None = None,
    progress: Callable[[int], None] | None = None,
) -> Tuning:
    """The kernels with which mean field segments annotated images best.

    Parameters
    ----------
    examples : image, scores and true labels (H, W) of at least two images, as for `segment`.
    grid : settings to try; the defaults are always among them.
    folds : number of folds of the cross-validation.
    void : true label of pixels that do not count.
    logits : the scores are logits or log-probabilities.
    solver : of each mean field; by default with a tolerance that is enough for labels.
    progress : called with the number of images done.

    Examples
    --------
    >>> import numpy as np, mixfield as mf
    >>> from mixfield.apps import tune
    >>> truth = np.zeros((8, 8), int)
    >>> truth[:, 4:] = 1
    >>> noisy = np.clip(truth + np.random.default_rng(0).normal(0, 0.5, (8, 8)), 0.1, 0.9)
    >>> tune([(truth * 0.5, noisy, truth)] * 2, grid=[mf.Kernels()]).held_out
    1.0
    """
    _arrays.at_least("folds", folds, 2)
    solver = solver or Solver(tolerance=TOLERANCE)
    tried = tuple(dict.fromkeys([Kernels(), *grid]))
    tables = []
    for done, example in enumerate(examples, 1):
        tables.append(_confusions(example, (None, *tried), void, logits, solver))
        if progress is not None:
            progress(done)
    if len(tables) < 2:
        raise MixfieldError(f"examples must hold at least two annotated images to leave one out, got {len(tables)}")
    counts = _stacked(tables)
    return _choose(tried, counts[:, 1:], counts[:, 0], min(folds, len(tables)))


def _confusions(
    example: Example, settings: Sequence[Kernels | None], void: int, logits: bool, solver: Solver
) -> list[Counts]:
    """Confusion matrix of each setting on one image."""
    image, scores, truth = example
    answers = [_labels(image, scores, kernels, logits, solver) for kernels in settings]
    true_labels = np.asarray(truth)
    n_labels = max(int(np.max(answers)), int(true_labels[true_labels != void].max(initial=0))) + 1
    return [confusion(truth, labels, n_labels, void) for labels in answers]


def _labels(
    image: ArrayLike, scores: ArrayLike, kernels: Kernels | None, logits: bool, solver: Solver
) -> NDArray[np.int64]:
    """Labels (H, W) by mean field, or by the scores alone without kernels."""
    if kernels is None:
        return probabilities(scores, np.shape(image)[:2], logits=logits).argmax(-1)
    energy = segmentation_energy(image, scores, kernels=kernels, logits=logits)
    return mean_field(energy, solver=solver).labeling()


def _stacked(tables: Sequence[Sequence[Counts]]) -> Counts:
    """(images, settings, L, L) counts, L the largest number of labels of any image."""
    size = max(len(table) for row in tables for table in row)
    return np.stack([[np.pad(table, (0, size - len(table))) for table in row] for row in tables])


def _choose(grid: tuple[Kernels, ...], counts: Counts, scores: Counts, folds: int) -> Tuning:
    """Cross-validate the settings by their ``counts`` (images, settings, L, L); the first is the default."""
    total = counts.sum(0)
    mean_ious = [average(table) for table in total]
    held_out = np.zeros_like(total[0])
    for fold in range(folds):
        left_out = counts[fold::folds].sum(0)
        held_out += left_out[_best(total - left_out)]
    gained = average(held_out) > mean_ious[0]
    kernels = grid[_best(total)] if gained else grid[0]
    return Tuning(kernels, grid, tuple(mean_ious), average(held_out), mean_ious[0], average(scores.sum(0)))


def _best(counts: Counts) -> int:
    return int(np.argmax([average(table) for table in counts]))
