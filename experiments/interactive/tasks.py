"""Names and arguments of all measurements."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from experiments.interactive.measure import CARELESS
from experiments.interactive.objects import object_names
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
    """A person on the objects that the weights were not fitted to, with the scores of both networks."""
    ways = (CONTROL, REFINED_CONTROL, OFFERS)
    return {
        f"{name} {way} {network}": (data, name, way, network) for name, network in _judged(data, every) for way in ways
    }


def ceilings(data: Path, every: int = 1) -> Tasks:
    """The same objects."""
    return {f"{name} {network}": (data, name, network) for name, network in _judged(data, every)}


def _judged(data: Path, every: int) -> list[tuple[str, str]]:
    return [(name, network) for name in object_names(data)[::2][::every] for network in NETWORKS]


def fits(data: Path) -> Tasks:
    """Clicks on the other objects; annotators and scores take turns."""
    kinds = [(annotator, scores) for annotator in ANNOTATORS for scores in (False, True)]
    return {f"fit {name}": (data, name, *kinds[k % len(kinds)]) for k, name in enumerate(object_names(data)[1::2])}


def first_pixel_fits(data: Path) -> Tasks:
    """Some of the same images with the scores of both networks."""
    names = object_names(data)[1::2][::FIRST_ROUND]
    return {f"first {name} {network}": (data, name, network) for name in names for network in NETWORKS}


def pixel_fits(data: Path, first: Path) -> Tasks:
    """All of them, with the model of the first round."""
    names = object_names(data)[1::2]
    return {f"pixels {name} {network}": (data, name, network, first) for name in names for network in NETWORKS}
