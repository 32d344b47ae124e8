"""The measurements of the page: three models of a photo, fields with constant unaries, and random graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from experiments.measurements import Row
from experiments.synthetic.families import families
from experiments.temperature import constant_unary, splitting
from experiments.temperature.models import MODELS, SHOWN, entropy_curve, models
from experiments.temperature.photos import Photo


def temperatures(*, quick: bool) -> list[float]:
    """From 1 to 8, with smaller steps around T_c = Gamma / 2 = 5."""
    coarse, fine = np.arange(1.0, 8.1, 1.0 if quick else 0.5), np.arange(4.5, 5.51, 0.1 if quick else 0.05)
    return np.unique(np.concatenate([coarse, fine, SHOWN]).round(3)).tolist()


def tasks(photo: Photo, *, quick: bool) -> dict[str, tuple[Any, ...]]:
    """Name and values of every measurement."""
    steps = temperatures(quick=quick)
    instances, sizes = (1, (7,)) if quick else (10, (13, 7))
    size = "x".join(map(str, photo.foreground.shape))
    return (
        {f"{name} {photo.name} {size}": ("model", photo, name, steps) for name in MODELS}
        | {f"unary {unary:g}": ("unary", unary) for unary in constant_unary.UNARIES}
        | {f"{family.name} {instances}": ("graph", family, instances) for family in families(("mmmf",), sizes)}
    )


def measure(what: str, *values: Any) -> Row:
    """One of the `tasks`."""
    functions: dict[str, Callable[..., Row]] = {
        "model": _model,
        "unary": constant_unary.measure,
        "graph": splitting.measure,
    }
    return {"what": what, **functions[what](*values)}


def _model(photo: Photo, name: str, steps: Sequence[float]) -> Row:
    return {"name": name, **entropy_curve(models(photo)[name], steps)}


def collect(rows: Sequence[Row], photo: Photo, made_by: dict[str, Any]) -> dict[str, Any]:
    """The measurements as one dictionary, by kind."""
    return {
        "made_by": made_by,
        "photo": photo.name,
        "shape": list(photo.foreground.shape),
        "starts": splitting.STARTS,
        "models": {row["name"]: row for row in rows if row["what"] == "model"},
        "with_unaries": [row for row in rows if row["what"] == "unary"],
        "graphs": [row for row in rows if row["what"] == "graph"],
    }
