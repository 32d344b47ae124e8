"""Names and arguments of all measurements."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from experiments.interactive.measure import CARELESS
from experiments.interactive.objects import judged_objects, kept_objects, object_names
from experiments.interactive.person import CLICKS, CONTROL, OFFERS, REFINED_CONTROL
from experiments.interactive.photographs import photo_names

Tasks = dict[str, tuple[Any, ...]]

ANNOTATORS = ("perfect", CARELESS)
NETWORKS = ("dl513", "dl257")
FIRST_ROUND = 3  # every so many images are in it


def methods(data: Path, names: tuple[str, ...]) -> Tasks:
    """Every method on every photograph, by both annotators."""
    return {
        f"{photo} {method} {annotator}": (data, photo, method, annotator)
        for annotator in ANNOTATORS
        for method in names
        for photo in photo_names(data)
    }


def persons(data: Path) -> Tasks:
    """A person with and without alternatives and questions on every photograph."""
    return {
        f"{photo} {way} {annotator}": (data, photo, way, annotator)
        for annotator in ANNOTATORS
        for way in (CLICKS, OFFERS)
        for photo in photo_names(data)
    }


def objects(data: Path, every: int = 1) -> Tasks:
    """A person on the objects of images that nothing was fitted to, with the scores of both networks."""
    return _persons(data, judged_objects(data)[::every], (CONTROL, REFINED_CONTROL, OFFERS))


def kept(data: Path, every: int = 1) -> Tasks:
    """The same on the objects that nothing was chosen on; some of them are in `objects` too, by the same names."""
    return _persons(data, kept_objects(data)[::every], (CONTROL, OFFERS))


def _persons(data: Path, names: list[str], ways: tuple[str, ...]) -> Tasks:
    return {
        f"{name} {way} {network}": (data, name, way, network) for name in names for network in NETWORKS for way in ways
    }


def ceilings(data: Path, every: int = 1) -> Tasks:
    """The objects of `objects`."""
    names = judged_objects(data)[::every]
    return {f"{name} {network}": (data, name, network) for name in names for network in NETWORKS}


def fits(data: Path) -> Tasks:
    """Clicks on the other objects; annotators and scores take turns."""
    kinds = [(annotator, scores) for annotator in ANNOTATORS for scores in (False, True)]
    return {f"fit {name}": (data, name, *kinds[k % len(kinds)]) for k, name in enumerate(object_names(data)[1::2])}


def score_fits(data: Path, models: tuple[Path, ...]) -> Tasks:
    """Clicks on these objects with the scores of both networks, and models that were fitted without their fold."""
    return {
        f"scores {name} {network}": (data, name, annotator, network, models[fold])
        for fold, names in enumerate(folds(data))
        for name in names
        for annotator, network in zip(ANNOTATORS, NETWORKS, strict=True)
    }


def folds(data: Path) -> list[list[str]]:
    """The images that models are fitted to, in two parts."""
    names = object_names(data)[1::2]
    return [names[::2], names[1::2]]


def first_pixel_fits(data: Path) -> Tasks:
    """Some of the same images with the scores of both networks."""
    names = object_names(data)[1::2][::FIRST_ROUND]
    return {f"first {name} {network}": (data, name, network) for name in names for network in NETWORKS}


def pixel_fits(data: Path, first: Path) -> Tasks:
    """All of them, with the model of the first round."""
    names = object_names(data)[1::2]
    return {f"pixels {name} {network}": (data, name, network, first) for name in names for network in NETWORKS}
