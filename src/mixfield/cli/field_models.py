"""``--model``: the model of the field behind the scores, for ``mixfield segment`` and ``mixfield video``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

Model = Annotated[
    str,
    typer.Option(
        help="A file of mixfield fit, default, or deeplab: its kernels with the weights of the paper.  "
        "[default: default; strokes: superpixels]"
    ),
]


def field_options(model: str) -> dict[str, Any]:
    """The option of `mixfield.segment` for ``--model``: a model, kernels, or none."""
    from mixfield.apps import FieldModel, Kernels
    from mixfield.errors import MixfieldError

    if not model:
        return {}
    if model == "deeplab":
        return {"kernels": Kernels.deeplab()}
    if model == "default":
        return {"model": FieldModel.default()}
    if not Path(model).is_file():
        raise MixfieldError(f"--model must be a file of mixfield fit, default or deeplab, {model} does not exist")
    return {"model": FieldModel.load(model)}


def field_settings(options: dict[str, Any]) -> dict[str, Any]:
    """What results depend on, of `field_options`."""
    content = {name: asdict(value) for name, value in options.items()}
    content.get("model", {}).pop("table", None)  # how good a model is does not change what it does
    return {"model": None, "kernels": None} | content
