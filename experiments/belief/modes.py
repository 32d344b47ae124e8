"""Modes of the annotated stills in two fields, saved so that folds can be fitted and judged without solving again."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from pathlib import Path

import mixfield as mf
from experiments.annotated import AnnotatedFolder, Example, Network
from experiments.measurements import Row, Tasks
from mixfield.apps.field_model import FieldModel
from mixfield.apps.kernels import Kernels
from mixfield.errors import FewerModesWarning
from mixfield.mixture.posterior import MixturePosterior

NETWORKS: tuple[Network, ...] = ("dl513", "dl257")
SETS = ("voc", "vocval7", "coco")
MODES = 8  # at most


@dataclass(frozen=True, eq=False)
class Case:
    """The modes of one image with the scores of one network.

    Attributes
    ----------
    network, subset, example : what was segmented.
    deeplab : modes of the field with the kernels of DeepLab, in the paper's order.
    fitted : modes of the default model, not calibrated.
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
    counts = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerModesWarning)
        found = {
            "deeplab": mf.infer(example.energy(), MODES),
            "fitted": model.modes(example.probs, example.image, MODES),
        }
    for field, posterior in found.items():
        posterior.save(_path(work, network, subset, name, field), compact=True)
        counts[field] = len(posterior.modes)
    return {"network": network, "set": subset, "image": name, "modes": counts}


def load_case(data: Path, work: Path, network: Network, subset: str, name: str, step: int) -> Case:
    """What `save_modes` has saved, with its image."""
    example = AnnotatedFolder(data / "segmentation" / subset, network).load(name).reduced(step)
    deeplab, fitted = (mf.load(_path(work, network, subset, name, field)) for field in ("deeplab", "fitted"))
    return Case(network, subset, example, deeplab, fitted)


def scaled(model: FieldModel, step: int) -> FieldModel:
    """The model for images that are reduced by ``step``."""
    return replace(model, kernels=_scaled(model.kernels, step), search=_scaled(model.search, step))


def _scaled(kernels: Kernels | None, step: int) -> Kernels | None:
    return kernels and replace(kernels, sxy=kernels.sxy / step, smooth_sxy=kernels.smooth_sxy / step)


def _path(work: Path, network: str, subset: str, name: str, field: str) -> Path:
    folder = work / "posteriors"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{network}_{subset}_{name}_{field}.npz"
