"""The kernels of a dense CRF as a TOML file."""

from __future__ import annotations

from dataclasses import asdict
from os import PathLike

from mixfield import _files
from mixfield.apps.kernels import Kernels
from mixfield.errors import FileFormatError, MixfieldError
from mixfield.io.documents import read_toml

StrPath = str | PathLike[str]


def write_kernels(path: StrPath, kernels: Kernels) -> None:
    """Write kernels; `read_kernels` reads them."""
    lines = [f"{name} = {value!r}\n" for name, value in asdict(kernels).items()]
    _files.write_text(path, "[kernels]\n" + "".join(lines))


def read_kernels(path: StrPath) -> Kernels:
    """Read kernels from a file with a table ``[kernels]``; numbers that it does not name have their default."""
    table = read_toml(path).get("kernels")
    names = asdict(Kernels())
    if not isinstance(table, dict) or not set(table) <= set(names):
        raise FileFormatError(f"{path} must have one table [kernels] with numbers named {', '.join(names)}")
    try:
        return Kernels(**table)
    except MixfieldError as error:
        raise FileFormatError(f"{path}: {error}") from None
