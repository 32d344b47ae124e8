"""Still images (section 7.3 of the paper): the best of K segmentations as an oracle chooses, against mean field.

An oracle gains from any variation, so the modes stand beside DivMBest, random restarts and mean fields of noisy scores,
at the same number of segmentations.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from experiments.annotated import Annotated, Example, Network
from experiments.measured import Row
from mixfield.apps.pictures import resized
from mixfield.apps.ranking import mode_features
from mixfield.baselines.diverse import diverse_modes
from mixfield.constraints.firm_clamp import FirmClamp
from mixfield.criteria.phase_transition import DensestWindow, EntropyGap, PhaseTransition
from mixfield.energy.active_labels import active_labels
from mixfield.energy.dense_crf import DenseCRF
from mixfield.errors import MixfieldWarning
from mixfield.metrics.segmentation import mean_iou
from mixfield.mixture.node import Node
from mixfield.mixture.posterior import MixturePosterior
from mixfield.mixture.tree import breadth_first, infer
from mixfield.solvers.mean_field import Solver, mean_field
from mixfield.solvers.mode import Mode

Labelings = list[NDArray[np.int64]]
Float32s = NDArray[np.float32]

SETS = ("voc", "vocval7", "coco")
NETWORKS = ("dl513", "dl257")
STRENGTHS = (0.3, 0.5, 1.0)  # of DivMBest
NOISES = (1.0, 2.0)  # standard deviations of the noise on scores
TUNED = {"dl513": ("DivMBest 0.5", "noise 1"), "dl257": ("DivMBest 1", "noise 2")}  # best on the images tuned on
ROUGH = Solver(tolerance=1e-2, max_iterations=100)  # some twenty filterings: most updates are of a few pixels
FIRM = FirmClamp(release=False, steps=2, patience=2)  # four updates for each mode, and nothing is let go
WIDE = ("ours, firm", "restarts", "paper", "single pixels")  # tried after the others
FEW, EVERY = 8, 7  # segmentations of most images; one image in so many gets more
STEPS = (3, 1)  # images with blocks of so many pixels a side made one: a third of the size first
SAMPLED = 100  # pixels of each image on which probabilities are compared


class Counted(DenseCRF):
    """A dense CRF that counts the filterings of one mode's labels; those of some pixels count by their share."""

    calls = 0.0

    @classmethod
    def of_energy(cls, energy: DenseCRF, noise: Float32s | None = None) -> Counted:
        """The same field, with ``noise`` (n, L) added to its costs."""
        crf = cls.__new__(cls)
        crf.__dict__.update(energy.__dict__)
        crf.negligible, crf.calls = 0.0, 0.0
        if noise is not None:
            crf.costs = crf.costs + noise
        return crf

    def listen(self, sums: Any, portions: Any, scratch: Any, n_modes: int, *rest: Any, **options: Any) -> None:
        self.calls += n_modes
        super().listen(sums, portions, scratch, n_modes, *rest, **options)

    def region(self, points: NDArray[np.int64], n_modes: int, threads: int = 1) -> Callable[[Float32s], Float32s]:
        heard = super().region(points, n_modes, threads)

        def support(values: Float32s) -> Float32s:
            self.calls += n_modes * len(points) / self.n
            return heard(values)

        return support


@dataclass(frozen=True, eq=False)
class Answer:
    """Several segmentations, mean field first, what had been filtered after each, and their posterior if any."""

    labelings: Labelings
    spent: list[float]
    posterior: MixturePosterior | None = None


Method = Callable[[Counted, int], Answer]


def methods(step: int = 1) -> dict[str, Method]:
    """Every way to get several segmentations, by name; each takes the field and how many.

    The paper's window shrinks with images of which every ``step``-th pixel is left.
    """
    table: dict[str, Method] = {
        "ours": _modes(),
        "ours, firm": _modes(clamp=FIRM),
        "single pixels": _modes(criterion=PhaseTransition(pick=EntropyGap()), order=breadth_first),
        "restarts": _one_by_one(_restarts),
    }
    for strength in STRENGTHS:
        table[f"DivMBest {strength:g}"] = _one_by_one(partial(_diverse, strength=strength))
    for amount in NOISES:
        table[f"noise {amount:g}"] = _one_by_one(partial(_noisy, amount=amount))
    table["paper"] = _modes(criterion=PhaseTransition(pick=DensestWindow(51 // step)), order=breadth_first)
    return table


def _modes(**how: Any) -> Method:
    """The mean field that was cut first, then the other modes in the order in which they were found."""

    def method(crf: Counted, count: int) -> Answer:
        spent = [0.0] * count

        def note(found: int) -> None:
            spent[found - 1 :] = [crf.calls] * (count - found + 1)

        posterior = infer(crf, count, progress=note, **how)
        note(len(posterior.modes))
        labelings, first = posterior.labelings(), posterior.plain
        ordered = [labelings[first], *(labelings[k] for k in _as_found(posterior.tree) if k != first)]
        return Answer(ordered, spent[: len(ordered)], posterior)

    return method


def _as_found(tree: Sequence[Node]) -> list[int]:
    """Modes of the leaves in the order in which they appeared; one that was cut later lives on in one of its parts."""

    def origin(k: int) -> int:
        parent = tree[k].parent
        return origin(parent) if parent >= 0 and tree[parent].log_z == tree[k].log_z else k

    leaves = [k for k, node in enumerate(tree) if node.mode >= 0]
    return [tree[k].mode for k in sorted(leaves, key=origin)]


def _one_by_one(source: Callable[[Counted], Iterator[Mode]]) -> Method:
    def method(crf: Counted, count: int) -> Answer:
        found = [(mode.labeling(), crf.calls) for mode in islice(source(crf), count)]
        return Answer([labeling for labeling, _ in found], [calls for _, calls in found])

    return method


def _restarts(crf: Counted) -> Iterator[Mode]:
    """Mean field, and mean fields from random starts."""
    rng = np.random.default_rng(0)
    yield mean_field(crf, solver=ROUGH)
    while True:
        yield mean_field(crf, start=rng.dirichlet(np.ones(crf.n_labels), crf.shape), solver=ROUGH)


def _diverse(crf: Counted, *, strength: float) -> Iterator[Mode]:
    return diverse_modes(crf, strength=strength, solver=ROUGH)


def _noisy(crf: Counted, *, amount: float) -> Iterator[Mode]:
    """Mean field, and mean fields of scores with smooth noise."""
    rng = np.random.default_rng(0)
    yield mean_field(crf, solver=ROUGH)
    while True:
        height, width = crf.shape
        smooth = _smooth_noise(rng, (height, width), crf.n_labels, max(crf.shape) / 16)
        smooth *= amount / smooth.std()
        other = Counted.of_energy(crf, smooth.reshape(crf.costs.shape).astype(np.float32))
        mode = mean_field(other, solver=ROUGH)
        crf.calls += other.calls
        yield mode


def _smooth_noise(rng: np.random.Generator, shape: tuple[int, int], n_labels: int, width: float) -> NDArray[Any]:
    """(H, W, L) noise that hangs together over ``width`` pixels, drawn at every eighth of them at least."""
    every = max(1, int(width / 8))
    noise = rng.standard_normal((*(-(-length // every) for length in shape), n_labels))
    smooth: NDArray[Any] = gaussian_filter(noise, (width / every, width / every, 0))
    return resized(smooth, shape)


def plan(data: Path, count: int, images: int | None) -> Iterator[tuple[Annotated, str, int, str, int]]:
    """Set, image, step (3: a third of the size), method and how many segmentations.

    Our modes, DivMBest and the noise are tried on every image, and on every seventh with more segmentations.  The
    methods of `WIDE` are tried on every image too, every seventh first, and other strengths on every seventh.  All sets
    are covered evenly wherever it stops.
    """
    sets = [Annotated(data / "segmentation" / kind, net) for kind in SETS for net in NETWORKS]  # type: ignore[arg-type]
    places = [(k % EVERY == 0, k / len(one.names), one, k) for one in sets for k in range(len(one.names))[:images]]
    places.sort(key=lambda place: place[:2])
    few, thorough = ([(one, k) for often, _, one, k in places if often is kind] for kind in (False, True))
    small, whole = STEPS
    rounds = [
        (few + thorough, small, "main"),
        (thorough, small, "wide"),
        (few, whole, "main"),
        (few, small, "wide"),
        (thorough, whole, "main"),
        (thorough + few, whole, "wide"),
        (thorough, small, "rest"),
        (thorough, whole, "rest"),
    ]
    for some, step, part in rounds:
        for one, k in some:
            for name in _names(part, one.net):
                more = part == "main" and k % EVERY == 0
                yield one, one.names[k], step, name, count if more else min(count, FEW)


def _names(part: str, net: str) -> list[str]:
    """Methods that are tried together on an image."""
    main = ["ours", *TUNED[net]]
    parts = {"main": main, "wide": list(WIDE)}
    return parts.get(part) or [name for name in methods() if name not in (*main, *WIDE)]


def tasks(data: Path, *, count: int, images: int | None, step: int | None = None) -> dict[str, tuple[Any, ...]]:
    """Name and values of every measurement, or of those of images of one size."""
    return {
        f"{source.net} {source.folder.name} {image} {name}" + ("" if size == 1 else f" by {size}"): (
            source,
            image,
            size,
            name,
            wanted,
        )
        for source, image, size, name, wanted in plan(data, count, images)
        if step in (None, size)
    }


def measure(source: Annotated, image: str, step: int, name: str, count: int) -> Row:
    """One method on one image."""
    place = {"net": source.net, "set": source.folder.name, "image": image, "step": step, "method": name}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MixfieldWarning)
        return place | _row(*_loaded(source.folder, source.net, image, step), methods(step)[name], count)


@lru_cache(maxsize=1)
def _loaded(folder: Path, net: Network, image: str, step: int) -> tuple[Example, Counted, Mode]:
    """The image that the methods share, its field and its mean field."""
    example = _source(folder, net).load(image).reduced(step)
    crf = _field(example)
    return example, crf, mean_field(crf, solver=ROUGH)


@lru_cache(maxsize=len(SETS) * len(NETWORKS))
def _source(folder: Path, net: Network) -> Annotated:
    return Annotated(folder, net)


def _field(example: Example) -> Counted:
    crf = example.energy()
    labels, _ = active_labels(crf)
    field = Counted.of_energy(crf.restricted(labels) if len(labels) < crf.n_labels else crf)
    field.active = labels  # type: ignore[attr-defined]
    return field


def _row(example: Example, crf: Counted, plain: Mode, method: Method, count: int) -> Row:
    """Mean IoU of mean field and of every segmentation, in their order, and what they cost."""
    labels = crf.active  # type: ignore[attr-defined]
    crf.calls, started = 0.0, time.perf_counter()
    answer = method(crf, count)
    seconds = time.perf_counter() - started

    def score(labeling: NDArray[np.int64]) -> float:
        return round(mean_iou(example.truth, labels[labeling], example.probs.shape[-1]), 5)

    row: Row = {
        "wanted": count,
        "mean_field": score(plain.labeling()),
        "ious": [score(labeling) for labeling in answer.labelings],
        "spent": [round(calls, 1) for calls in answer.spent],
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
