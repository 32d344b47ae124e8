"""A fitted model of the field behind network scores: how scores become an energy, and its modes probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield._progress import Progress
from mixfield.apps import field_model_file
from mixfield.apps.alternatives import changes_of
from mixfield.apps.change_features import ChangeFeatures, Logistic, change_features
from mixfield.apps.kernels import Kernels
from mixfield.apps.measure import Measure
from mixfield.apps.offers import Comparison, list_length, offered_posterior
from mixfield.apps.straight_edges import changes_follow
from mixfield.energy.dense_crf import DenseCRF
from mixfield.energy.unary import log_costs
from mixfield.errors import MixfieldError
from mixfield.mixture.calibration import Blend, Calibration, label_frequencies
from mixfield.mixture.posterior import MixturePosterior
from mixfield.mixture.tree import infer
from mixfield.solvers.options import Solver

FLOOR = 1e-8  # smallest probability of a label
SEARCHED = 8  # modes, however few are offered: models are fitted on the alternatives that these make
SMALLEST_SHARE = 0.02  # of an image, at which the cost of a frequent label ends

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class FieldModel:
    """How scores become an energy, and how its modes get probabilities.

    Attributes
    ----------
    exponent : of the scores; the unary costs are ``-exponent log p``.
    kernels : of the dense CRF; None where the scores alone are best.
    answer : log-odds that a mode's labels are better than those of the root mode where they differ.
    hypothesis : log-weight of a labeling as a hypothesis of the truth, by which the list of alternatives is chosen and
        weighted, see `mixfield.apps.offers`.
    blending : of marginals with the scores.
    balance : cost of a label for each unit of the logarithm of its share of the image.  Likelihood counts pixels, mean
        IoU counts labels: a small balance favours labels of few pixels, which mean IoU counts as much as others.
    search : kernels of the stronger field whose modes are alternatives, see `mixfield.apps.alternatives`; None
        where they are the modes of the field itself.
    least_gain : of IoU that the alternatives must promise together to be offered all, see `list_length`.
    parts : whether the parts of an alternative between several pairs of labels are alternatives too.
    images : how many the model was fitted on, and ``fingerprint`` of these.
    table : quantities measured on held-out images.
    """

    exponent: float
    kernels: Kernels | None
    answer: Logistic
    hypothesis: Logistic
    blending: Blend
    balance: float = 0.0
    search: Kernels | None = None
    least_gain: float = 0.05
    parts: bool = True
    images: int = 0
    fingerprint: str = ""
    table: tuple[Measure, ...] = ()

    @staticmethod
    def default() -> FieldModel:
        """The model that ships, fitted on photographs with the scores of two networks of different strength."""
        return FieldModel.load(Path(__file__).with_name("default_model.toml"))

    @property
    def has_alternatives(self) -> bool:
        """Whether a field of the model may have several modes, which needs kernels."""
        return self.kernels is not None or self.search is not None

    def energy(
        self,
        probs: NDArray[np.floating],
        image: NDArray[Any],
        origin: Sequence[int] = (),
        shares: Floats | None = None,
    ) -> DenseCRF:
        """The dense CRF of probabilities (H, W, L) and intensities (H, W, channels) from 0 to 255.

        For a part of a larger image, ``origin`` is the position (row, column) of its first pixel, see `Bilateral`, and
        ``shares`` are the `label_shares` of the whole.
        """
        costs = log_costs(probs, FLOOR)
        costs *= np.float32(self.exponent)
        if self.balance:
            costs += np.float32(self.balance) * _log_shares(label_shares(probs) if shares is None else shares)
        return DenseCRF(costs, [] if self.kernels is None else self.kernels.pairwise(image, origin))

    def modes(
        self,
        probs: NDArray[np.floating],
        image: NDArray[Any],
        n_modes: int,
        *,
        energy: DenseCRF | None = None,
        rng: int | np.random.Generator = 0,
        solver: Solver | None = None,
        progress: Progress = None,
        origin: Sequence[int] = (),
    ) -> MixturePosterior:
        """Modes of `energy`, which may be given, with the paper's weights, from which `calibrate` chooses ``n_modes``.

        The search is the same for all numbers up to `SEARCHED`; for one, it is the mean field alone.
        """
        energy = self.energy(probs, image, origin) if energy is None else energy
        count = searched(n_modes) if self.has_alternatives else 1
        if self.search is None or count == 1:
            return infer(energy, count, rng=rng, solver=solver, progress=progress)
        found = self.stronger_modes(probs, image, count, rng=rng, solver=solver, progress=progress, origin=origin)
        return self.alternatives(found, probs, image, energy=energy, solver=solver)

    def stronger_modes(
        self,
        probs: NDArray[np.floating],
        image: NDArray[Any],
        count: int,
        *,
        origin: Sequence[int] = (),
        **options: Any,
    ) -> MixturePosterior:
        """Modes of the field of `search`, whatever the other settings are; the options are those of `infer`."""
        assert self.search is not None, "only a model with a field of search has its modes"
        return infer(DenseCRF(log_costs(probs, FLOOR), self.search.pairwise(image, origin)), count, **options)

    def alternatives(
        self,
        found: MixturePosterior,
        probs: NDArray[np.floating],
        image: NDArray[Any],
        *,
        energy: DenseCRF | None = None,
        solver: Solver | None = None,
    ) -> MixturePosterior:
        """The mean field of `energy` and its alternatives, from ``found`` by `stronger_modes`."""
        energy = self.energy(probs, image) if energy is None else energy
        return changes_of(found, energy, image, probs, parts=self.parts, solver=solver)

    def calibrate(
        self,
        posterior: MixturePosterior,
        probs: NDArray[np.floating],
        image: NDArray[Any] | None = None,
        n_modes: int | None = None,
    ) -> MixturePosterior:
        """The modes of a posterior of `modes` with calibrated weights, the root mode first, then the most useful.

        At most ``n_modes`` are offered.  Alternatives that differ from others by few pixels, or that add little, are
        left out; so are those with straight edges that the image does not have, if its intensities (H, W, channels) are
        given.
        """
        evidence = np.asarray(probs / probs.sum(-1, keepdims=True), np.float32)
        labelings = posterior.labelings()
        root = posterior.root_mode
        features = change_features(evidence, labelings, root, image)
        follow, comparison = changes_follow(labelings, root, image), Comparison.of(labelings)
        kept, weights = self.offered(features, root, follow, comparison, n_modes)
        answers = np.array([np.nan if k == root else self.answer.probability(features[k]) for k in kept])
        calibration = Calibration(weights, answers, evidence, self.blending, self._is_sure(kept, n_modes))
        return offered_posterior(posterior, kept, calibration, n_modes)

    def _is_sure(self, kept: Sequence[int], n_modes: int | None) -> bool:
        """Whether alternatives were looked for, and none is worth a slot."""
        return len(kept) == 1 and n_modes != 1 and self.has_alternatives

    def offered(
        self,
        features: Sequence[ChangeFeatures],
        root: int,
        follow: NDArray[np.bool_],
        comparison: Comparison,
        n_modes: int | None = None,
    ) -> tuple[list[int], Floats]:
        """The root mode and the alternatives worth a slot, the most useful first, and the weight of each.

        Parameters
        ----------
        features : of the K modes against the root mode.
        root : index of the root mode.
        follow : (K,) whether the changes follow the image.
        comparison : of the labelings of the modes.
        n_modes : how many there may be.
        """
        order, gains = self.gains(features, root, follow, comparison)
        kept = order[: list_length(gains, self.least_gain)][:n_modes]
        hypotheses = np.where(follow, self.hypothesis.weights(features, root), 0.0)
        return kept, comparison.best_of_list(hypotheses, kept)

    def gains(
        self, features: Sequence[ChangeFeatures], root: int, follow: NDArray[np.bool_], comparison: Comparison
    ) -> tuple[list[int], Floats]:
        """The modes that may be offered, the most useful first, and the IoU that each one promises to add.

        Hypotheses are weighted as if one of the labelings were the truth.  What they promise counts in proportion to
        the probability of the most probable alternative, so that a list is shorter where none is probable.
        """
        order, added = comparison.order(self.hypothesis.weights(features, root), root, follow)
        return order, added * max((self.answer.probability(features[k]) for k in order[1:]), default=1.0)

    def save(self, path: str | PathLike[str]) -> None:
        """Write a readable TOML file; `load` reads it."""
        field_model_file.write(path, self)

    @staticmethod
    def load(path: str | PathLike[str]) -> FieldModel:
        """Read a file that `save` has written."""
        return FieldModel(**field_model_file.read(path))


def given_or_default(model: FieldModel | None, kernels: Kernels | None) -> FieldModel | Kernels:
    """The one that is given, or the model that ships."""
    if model is not None and kernels is not None:
        raise MixfieldError("give a model or kernels, not both: a model has kernels of its own")
    if not isinstance(model, FieldModel | None):
        raise MixfieldError(f"model must be a FieldModel, got {type(model).__name__}; read a file by FieldModel.load")
    if not isinstance(kernels, Kernels | None):
        raise MixfieldError(f"kernels must be mf.Kernels, such as Kernels.deeplab(), got {type(kernels).__name__}")
    if model is not None:
        return model
    return FieldModel.default() if kernels is None else kernels


def label_shares(probs: NDArray[np.floating]) -> Floats:
    """(L,) shares of the labels in an image; 0 for labels that are nowhere the most probable one."""
    occurs = np.isin(np.arange(probs.shape[-1]), probs.argmax(-1))
    return np.where(occurs, label_frequencies(probs) / probs.sum(-1, dtype=np.float64).mean(), 0.0)


def _log_shares(shares: Floats) -> NDArray[np.float32]:
    """(L,) logarithms of shares, 0 for labels that do not occur."""
    return np.where(shares > 0, np.log(np.maximum(shares, SMALLEST_SHARE)), 0.0).astype(np.float32)


def searched(n_modes: int) -> int:
    """How many modes are searched for where up to ``n_modes`` are offered."""
    return 1 if n_modes == 1 else max(n_modes, SEARCHED)
