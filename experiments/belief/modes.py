"""Modes of the annotated stills in two fields, saved so that folds can be fitted and judged without solving again.

The rows that are saved beside them have the loss of each exponent of the scores, by which `mixfield.fit` chooses one.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np

import mixfield as mf
from experiments.annotated import VOID, AnnotatedFolder, Example, Network
from experiments.measurements import Row, Tasks
from experiments.quiet import ignore_warnings
from mixfield.apps import field_choice, fitting
from mixfield.apps.alternatives import changes_of
from mixfield.apps.field_model import FieldModel
from mixfield.apps.kernels import Kernels
from mixfield.apps.mode_calibration import Example as AnnotatedImage
from mixfield.mixture.posterior import MixturePosterior

NETWORKS: tuple[Network, ...] = ("dl513", "dl257")
SETS = ("voc", "vocval7", "coco")
MODES = 8  # at most
EXPONENTS = (0.6, 0.7, 0.8, 1.0)


@dataclass(frozen=True, eq=False)
class Case:
    """The modes of one image with the scores of one network.

    Attributes
    ----------
    network, subset, example : what was segmented.
    deeplab : modes of the field with the kernels of DeepLab, in the paper's order.
    fitted : modes of a fitted field, not calibrated.
    """

    network: Network
    subset: str
    example: Example
    deeplab: MixturePosterior
    fitted: MixturePosterior


def tasks(data: Path, work: Path, *, step: int, every: int) -> Tasks:
    """Arguments of `save_modes` for every image of every set and network."""
    return {
        f"{network} {subset} {name}": (data, work, network, subset, name, step)
        for network in NETWORKS
        for subset in SETS
        for name in AnnotatedFolder(data / "segmentation" / subset, network).names[::every]
    }


def save_modes(data: Path, work: Path, network: Network, subset: str, name: str, step: int) -> Row:
    """Find the modes of an image in both fields and save them."""
    example = AnnotatedFolder(data / "segmentation" / subset, network).load(name).reduced(step)
    model = scaled(FieldModel.default(), step)
    with ignore_warnings():
        deeplab = mf.infer(example.energy(), MODES)  # the field of the search as well, see `FieldModel.modes`
        energy = model.energy(example.probs, example.image)
        found = {"deeplab": deeplab, "fitted": changes_of(deeplab, energy, example.image, example.probs)}
        losses = field_losses(example)
    for field, posterior in found.items():
        posterior.save(_path(work, network, subset, name, field), compact=True)
    return {"network": network, "set": subset, "image": name, "field_losses": losses}


def field_losses(example: Example) -> list[float]:
    """The loss of every one of `EXPONENTS` with the kernels of the default model, as `mixfield.fit` measures it."""
    image, kernels = annotated(example), scaled(FieldModel.default(), example.step).kernels
    return field_choice.field_losses(image, [(exponent, kernels or Kernels.deeplab()) for exponent in EXPONENTS])


def field_settings() -> dict[str, Any]:
    """What the saved modes depend on in the default model."""
    model = asdict(FieldModel.default())
    return {name: model[name] for name in ("exponent", "balance", "kernels", "search", "parts")}


def annotated(example: Example) -> AnnotatedImage:
    """The image as `mixfield.fit` takes it."""
    return fitting.example(example.image, example.probs, example.truth, VOID, False, np.random.default_rng(0))


@dataclass(frozen=True)
class SavedCase:
    """What `save_modes` has saved.

    Attributes
    ----------
    data, work, step : as given to it.
    row : as returned by it.
    """

    data: Path
    work: Path
    step: int
    row: Row

    @property
    def network(self) -> Network:
        """Whose scores these are."""
        return cast("Network", self.row["network"])

    @property
    def name(self) -> str:
        """Of the image."""
        return str(self.row["image"])

    def is_of(self, network: Network, step: int) -> bool:
        """Whether these are scores of a network at one size of the images."""
        return (self.network, self.step) == (network, step)

    def load(self, model: FieldModel) -> Case:
        """The modes of the image in the field of a model, which is the default model but for the exponent.

        Alternatives are changes of the mean field, for another exponent of another one.
        """
        place = self.network, self.row["set"], self.name
        example = (
            AnnotatedFolder(self.data / "segmentation" / place[1], self.network).load(self.name).reduced(self.step)
        )
        deeplab = mf.load(_path(self.work, *place, "deeplab"))
        is_default = model.exponent == FieldModel.default().exponent
        path = _path(self.work, *place, "fitted" if is_default else f"fitted-{model.exponent:g}")
        if not path.exists():
            energy = scaled(model, self.step).energy(example.probs, example.image)
            changes_of(deeplab, energy, example.image, example.probs).save(path, compact=True)
        return Case(self.network, place[1], example, deeplab, mf.load(path))


def scaled(model: FieldModel, step: int) -> FieldModel:
    """The model for images that are reduced by ``step``."""
    kernels, search = (one and one.reduced(step) for one in (model.kernels, model.search))
    return replace(model, kernels=kernels, search=search)


def _path(work: Path, network: str, subset: str, name: str, field: str) -> Path:
    folder = work / "posteriors"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{network}_{subset}_{name}_{field}.npz"
