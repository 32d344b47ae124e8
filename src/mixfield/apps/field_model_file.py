"""Field models as readable TOML files."""

from __future__ import annotations

import tomllib
from dataclasses import MISSING, asdict, fields
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from mixfield import _files
from mixfield.apps.change_features import Logistic
from mixfield.apps.kernels import Kernels
from mixfield.apps.measure import Measure
from mixfield.errors import FileFormatError, MixfieldError
from mixfield.mixture.calibration import Blend

if TYPE_CHECKING:
    from mixfield.apps.field_model import FieldModel

Part = TypeVar("Part", Blend, Kernels, Logistic)

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
        "kernels": None if kernels is None else _part(Kernels, kernels, low=0.0),
        "search": None if search is None else _part(Kernels, search, low=0.0),
        "blending": _part(Blend, content["blending"], low=0.0),
        "answer": _part(Logistic, content["answer"]),
        "hypothesis": _part(Logistic, content["hypothesis"]),
        "images": int(content["images"]),
        "fingerprint": str(content["fingerprint"]),
        "table": tuple(Measure(str(row.pop("name")), **_numbers(row)) for row in content.get("table", [])),
    }


def _part(kind: type[Part], table: dict[str, Any], low: float = -np.inf) -> Part:
    """A dataclass of numbers, of a table of a file with all of its attributes that have no default."""
    known = {field.name: field.default for field in fields(kind)}
    if unknown := [name for name in table if name not in known]:
        raise ValueError(f"{unknown[0]} is none of {', '.join(known)}")
    if missing := [name for name, default in known.items() if default is MISSING and name not in table]:
        raise KeyError(missing[0])
    return kind(**_numbers(table, low))


def _numbers(table: dict[str, Any], low: float = -np.inf) -> dict[str, float]:
    """Numbers of a table of a file, finite and not below ``low``."""
    numbers = {name: float(value) for name, value in table.items()}
    for name, value in numbers.items():
        if not low <= value < np.inf:
            least = f" not below {low:g}" if np.isfinite(low) else ""
            raise ValueError(f"{name} must be a finite number{least}, got {value}")
    return numbers
