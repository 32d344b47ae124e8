"""Still images (section 7.3 of the paper): the best of K segmentations as an oracle chooses, against mean field.

An oracle gains from any variation, so the modes stand beside DivMBest, random restarts and mean fields of noisy scores,
at the same number of segmentations.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from mixfield import baselines
from mixfield.apps.ranking import mode_features
from mixfield.clamping.selection import DensestWindow, EntropyGap, PhaseTransition
from mixfield.energy.active_labels import active_labels
from mixfield.energy.dense_crf import DenseCRF
from mixfield.errors import MixfieldWarning
from mixfield.meanfield.solver import Solver, mean_field
from mixfield.metrics.segmentation import mean_iou
from mixfield.mixture.posterior import MixturePosterior
from mixfield.mixture.tree import breadth_first, infer
from mixfield.reproduce.annotated import Annotated, Example, Network
from mixfield.reproduce.measured import Row

Labelings = list[NDArray[np.int64]]

SETS = ("voc", "vocval7", "coco")
NETWORKS = ("dl513", "dl257")
STRENGTHS = (0.3, 0.5, 1.0)  # of DivMBest, of which the best on all images counts
NOISES = (1.0, 2.0)  # standard deviations of the noise on scores, likewise
ROUGH = Solver(tolerance=1e-2, max_iterations=20)
SAMPLED = 100  # pixels of each image on which probabilities are compared


class Counted(DenseCRF):
    """A dense CRF that counts the filterings of one mode's labels."""

    calls = 0

    @classmethod
    def of_energy(cls, energy: DenseCRF, noise: NDArray[np.float32] | None = None) -> Counted:
        """The same field, with ``noise`` (n, L) added to its costs."""
        crf = cls.__new__(cls)
        crf.__dict__.update(energy.__dict__)
        crf.negligible, crf.calls = 0.0, 0
        if noise is not None:
            crf.costs = crf.costs + noise
        return crf

    def listen(self, values: Any, n_modes: int, *rest: Any, **options: Any) -> None:
        self.calls += n_modes
        super().listen(values, n_modes, *rest, **options)


@dataclass(frozen=True, eq=False)
class Answer:
    """Several segmentations, mean field first, and the posterior if they come from one."""

    labelings: Labelings
    posterior: MixturePosterior | None = None


Method = Callable[[Counted, int], Answer]


def methods() -> dict[str, Method]:
    """Every way to get several segmentations, by name; each takes the field and how many."""
    table: dict[str, Method] = {
        "ours": lambda crf, count: _modes(infer(crf, count)),
        "paper": lambda crf, count: _modes(
            infer(crf, count, criterion=PhaseTransition(pick=DensestWindow(51)), order=breadth_first)
        ),
        "single pixels": lambda crf, count: _modes(
            infer(crf, count, criterion=PhaseTransition(pick=EntropyGap()), order=breadth_first)
        ),
        "restarts": _restarts,
    }
    for strength in STRENGTHS:
        table[f"DivMBest {strength:g}"] = _diverse(strength)
    for amount in NOISES:
        table[f"noise {amount:g}"] = _noisy(amount)
    return table


def _modes(posterior: MixturePosterior) -> Answer:
    """The mean field that was cut first, then the others in the order in which they were found."""
    leaves = [node.mode for node in posterior.tree if node.mode >= 0]
    labelings, first = posterior.labelings(), posterior.plain
    return Answer([labelings[first], *(labelings[k] for k in leaves if k != first)], posterior)


def _restarts(crf: Counted, count: int) -> Answer:
    """Mean field, and mean fields from random starts."""
    rng = np.random.default_rng(0)
    starts = (rng.dirichlet(np.ones(crf.n_labels), crf.shape) for _ in range(count - 1))
    first = mean_field(crf, solver=ROUGH).labeling()
    return Answer([first, *(mean_field(crf, start=start, solver=ROUGH).labeling() for start in starts)])


def _diverse(strength: float) -> Method:
    return lambda crf, count: Answer(
        [mode.labeling() for mode in baselines.div_m_best(crf, count, strength=strength, solver=ROUGH)]
    )


def _noisy(amount: float) -> Method:
    def method(crf: Counted, count: int) -> Answer:
        rng = np.random.default_rng(0)
        labelings = [mean_field(crf, solver=ROUGH).labeling()]
        for _ in range(count - 1):
            noise = rng.standard_normal((*crf.shape, crf.n_labels))
            smooth = gaussian_filter(noise, (max(crf.shape) / 16, max(crf.shape) / 16, 0))
            smooth *= amount / smooth.std()
            other = Counted.of_energy(crf, smooth.reshape(crf.costs.shape).astype(np.float32))
            labelings.append(mean_field(other, solver=ROUGH).labeling())
            crf.calls += other.calls
        return Answer(labelings)

    return method


def plan(data: Path, names: Sequence[str], images: int | None) -> Iterator[tuple[Annotated, str, str]]:
    """Set, image and method, in an order that covers all sets evenly however early it is stopped."""
    sets = [Annotated(data / "segmentation" / kind, net) for net in NETWORKS for kind in SETS]  # type: ignore[arg-type]
    longest = max(len(one.names) for one in sets)
    for k in range(longest if images is None else min(images, longest)):
        for one in sets:
            if k < len(one.names):
                for name in names:
                    yield one, one.names[k], name


def tasks(data: Path, *, count: int, images: int | None) -> dict[str, tuple[Any, ...]]:
    """Name and values of every measurement."""
    return {
        f"{source.net} {source.folder.name} {image} {name}": (source, image, name, count)
        for source, image, name in plan(data, list(methods()), images)
    }


def measure(source: Annotated, image: str, name: str, count: int) -> Row:
    """One method on one image."""
    example, crf = _loaded(source.folder, source.net, image)
    place = {"net": source.net, "set": source.folder.name, "image": image, "method": name}
    return place | _row(example, crf, methods()[name], count)


@lru_cache(maxsize=1)
def _loaded(folder: Path, net: Network, image: str) -> tuple[Example, Counted]:
    """The image that the methods share."""
    example = Annotated(folder, net).load(image)
    return example, _field(example)


def _field(example: Example) -> Counted:
    crf = DenseCRF.from_probabilities(example.probs, example.image)
    labels, _ = active_labels(crf)
    field = Counted.of_energy(crf.restricted(labels) if len(labels) < crf.n_labels else crf)
    field.active = labels  # type: ignore[attr-defined]
    return field


def _row(example: Example, crf: Counted, method: Method, count: int) -> Row:
    """Mean IoU of mean field and of every segmentation, in their order, and what they cost."""
    labels = crf.active  # type: ignore[attr-defined]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MixfieldWarning)
        plain = mean_field(crf, solver=ROUGH)
        crf.calls, started = 0, time.perf_counter()
        answer = method(crf, count)
    seconds = time.perf_counter() - started

    def score(labeling: NDArray[np.int64]) -> float:
        return round(mean_iou(example.truth, labels[labeling], example.probs.shape[-1]), 5)

    row: Row = {
        "wanted": count,
        "mean_field": score(plain.labeling()),
        "ious": [score(labeling) for labeling in answer.labelings],
        "calls": crf.calls,
        "seconds": round(seconds, 2),
    }
    if answer.posterior is not None:
        row["by_weight"] = [score(labeling) for labeling in answer.posterior.labelings()]
        row["log_z"] = [mode.log_z for mode in answer.posterior.modes]
        row["features"] = mode_features(answer.posterior, crf, example.image).round(4).tolist()
        row["likelihoods"] = _likelihoods(example, answer.posterior, plain.marginals, labels)
    return row


def _likelihoods(
    example: Example, posterior: MixturePosterior, plain: NDArray[Any], labels: NDArray[np.int64]
) -> dict[str, Any]:
    """At some annotated pixels, the true label and the probabilities in thousandths: of mean field, then every mode."""
    truth = example.truth.ravel()
    known = np.flatnonzero(np.isin(truth, labels))
    points = np.random.default_rng(0).choice(known, min(SAMPLED, len(known)), replace=False) if len(known) else known
    fields = [plain, *(mode.marginals for mode in posterior.modes)]
    q = np.stack([np.asarray(one).reshape(-1, len(labels))[points] for one in fields])
    return {"true": np.searchsorted(labels, truth[points]).tolist(), "q": np.rint(q * 1000).astype(int).tolist()}
