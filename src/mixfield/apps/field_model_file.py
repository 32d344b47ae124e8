"""Field models as readable TOML files."""

from __future__ import annotations

import tomllib
from dataclasses import asdict
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from mixfield import _files
from mixfield.apps.change_features import Logistic
from mixfield.apps.kernels import Kernels
from mixfield.apps.measure import Measure
from mixfield.errors import FileFormatError, MixfieldError
from mixfield.mixture.calibration import Blend

if TYPE_CHECKING:
    from mixfield.apps.field_model import FieldModel

FORMAT, VERSION = "mixfield-field-model", 4
LARGEST = 16 << 10  # bytes of a file


def write(path: str | PathLike[str], model: FieldModel) -> None:
    """Write a model; `read` reads it."""
    _files.write_text(path, _toml(model))


def read(path: str | PathLike[str]) -> dict[str, Any]:
    """The attributes of a model; `FileFormatError` if the file is something else, damaged, or of another version."""
    try:
        content = tomllib.loads(_files.read_bytes(path, LARGEST).decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"{path} is not a field model: {error}") from None
    _check_version(path, content)
    try:
        return _attributes(content)
    except KeyError as error:
        raise FileFormatError(f"{path} is damaged: {error} is missing") from None
    except (TypeError, ValueError, AttributeError, OverflowError, MixfieldError) as error:
        raise FileFormatError(f"{path} is damaged: {error}") from None


def _check_version(path: str | PathLike[str], content: dict[str, Any]) -> None:
    version = content.get("version")
    if content.get("format") == FORMAT and isinstance(version, int) and version != VERSION:
        way_out = "fit it again with mixfield fit" if version < VERSION else "a newer mixfield reads it"
        raise FileFormatError(
            f"{path} is a field model of version {version}, this mixfield reads version {VERSION}; {way_out}"
        )
    if content.get("format") != FORMAT or version != VERSION:
        raise FileFormatError(
            f'{path} is not a field model of this version: it must begin with format = "{FORMAT}" and '
            f"version = {VERSION}"
        )


def _toml(model: FieldModel) -> str:
    lines = [f'format = "{FORMAT}"', f"version = {VERSION}", f"images = {model.images}"]
    lines += [f'fingerprint = "{model.fingerprint}"', f"exponent = {model.exponent!r}"]
    lines += [f"balance = {model.balance!r}", f"least_gain = {model.least_gain!r}"]
    lines += [f"parts = {str(model.parts).lower()}"]
    for name in ("kernels", "search", "blending", "answer", "hypothesis"):
        if (part := getattr(model, name)) is not None:
            lines += ["", f"[{name}]", *(f"{key} = {value!r}" for key, value in asdict(part).items())]
    for row in model.table:
        numbers = [f"{key} = {value!r}" for key, value in asdict(row).items() if key != "name"]
        lines += ["", "[[table]]", f'name = "{row.name}"', *numbers]
    return "\n".join(lines) + "\n"


def _attributes(content: dict[str, Any]) -> dict[str, Any]:
    kernels, search = content.get("kernels"), content.get("search")
    names, parts = ("exponent", "balance", "least_gain"), content["parts"]
    if not isinstance(parts, bool):
        raise TypeError(f"parts must be true or false, got {parts!r}")
    return {
        **_numbers({name: content[name] for name in names}, low=0.0),
        "parts": parts,
        "kernels": None if kernels is None else Kernels(**_numbers(kernels, low=0.0)),
        "search": None if search is None else Kernels(**_numbers(search, low=0.0)),
        "blending": Blend(**_numbers(content["blending"], low=0.0)),
        "answer": Logistic(**_numbers(content["answer"])),
        "hypothesis": Logistic(**_numbers(content["hypothesis"])),
        "images": int(content["images"]),
        "fingerprint": str(content["fingerprint"]),
        "table": tuple(Measure(str(row.pop("name")), **_numbers(row)) for row in content.get("table", [])),
    }


def _numbers(table: dict[str, Any], low: float = -np.inf) -> dict[str, float]:
    """Numbers of a table of a file, finite and not below ``low``."""
    numbers = {name: float(value) for name, value in table.items()}
    for name, value in numbers.items():
        if not low <= value < np.inf:
            raise ValueError(f"{name} must be a finite number not below {low:g}, got {value}")
    return numbers
