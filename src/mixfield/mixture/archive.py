"""Posteriors as files: one ``.npz``, no pickles, a version, the same bytes for the same posterior."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from itertools import islice
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mixfield import _files, _levels, _npy
from mixfield.elimination.conditionals import Conditionals
from mixfield.errors import FileFormatError, MixfieldError
from mixfield.mixture.archive_rows import (
    constraint_of,
    float_or_nan,
    mode_header,
    mode_of,
    node_header,
    node_of,
    number_or_null,
)
from mixfield.mixture.calibration import Blend, Calibration
from mixfield.mixture.merging import merged_mode
from mixfield.mixture.shared_groups import SharedConstraints, share_groups
from mixfield.solvers.mode import Mode

if TYPE_CHECKING:
    from mixfield.mixture.posterior import MixturePosterior

FORMAT = "mixfield-posterior"
EXACT, COMPACT, COLLAPSED = 1, 2, 3  # versions: marginals as floats, in 16 bits, or either with eliminated variables
VERSION = COLLAPSED
CONDITIONALS = "conditionals"  # their arrays are conditionals_0_labels, ...
COMPLAINT = "is not a saved posterior"
ALWAYS_PARSED, MAX_COMPRESSION = 16 << 20, 10  # bytes of JSON, however small the file; else per byte of the file
MAX_BRACKETS = 1_000_000  # lists and objects of the JSON: an empty one takes 24 times its text in memory
FLOAT64 = 8  # bytes
CUTS = 4  # a tree of K modes has K - 1 cuts: groups of up to n variables, and their labels on either side
ALWAYS_UNPACKED, MAX_UNPACKING = 3 << 27, 400  # bytes of the labels of a compact file as float64; else per byte of it
MAX_LABELS = 1 << 16


def write(path: str | PathLike[str], contents: MixturePosterior, *, compact: bool = False) -> None:
    """Write a posterior; the file appears whole or not at all.  With ``compact``, marginals have 16 bits."""
    cells = [cell for mode in contents.modes for _, cell in mode.components()]
    stacked = np.stack([cell.marginals for cell in cells])
    numbers: dict[str, NDArray[Any]] = _level_arrays(stacked) if compact else {"marginals": stacked}
    header: dict[str, Any] = {
        "format": FORMAT,
        "version": COMPACT if compact else EXACT,
        "exact_log_z": contents.exact_log_z,
        "log_z_estimate": contents.log_z_estimate,
        "narrowed_tables": contents.narrowed_tables,
        "map_energy": number_or_null(contents.map_energy),
        "t_max": contents.t_max,
        "notes": list(contents.notes),
        "modes": [mode_header(cell) for cell in cells],
        "tree": [node_header(node) for node in contents.tree],
    }
    if compact:
        numbers["runs"], numbers["run_counts"] = share_groups(header)
    if contents.best is not None:
        numbers["best"] = contents.best.astype(np.int64)
    if any(cell.conditionals is not None for cell in cells) or len(cells) > len(contents.modes):
        header["version"], header["compact"] = COLLAPSED, compact
        header["cells"] = [len(mode.components()) for mode in contents.modes]
        header[CONDITIONALS], tables = _conditional_arrays(cells)
        numbers |= tables
        numbers["labelings"] = np.stack([cell.labeling() for cell in cells]).astype(np.int64)
    if contents.calibration is not None:
        header["calibration"] = _calibration_header(contents.calibration)
        numbers |= _evidence(contents.calibration.evidence, compact=compact)
    arrays: dict[str, NDArray[Any]] = {
        "header": np.frombuffer(json.dumps(header, sort_keys=True).encode(), np.uint8),
        **numbers,
    }
    with _files.draft(path) as draft, open(draft, "xb") as file:
        _npy.write_npz(file, arrays)


def read(path: str | PathLike[str]) -> dict[str, Any]:
    """The attributes of a posterior; `FileFormatError` if the file is something else, damaged, or from the future."""
    header = _read_header(path)
    is_compact = header["version"] == COMPACT or bool(header.get("compact"))
    marginals = _read_levels(path) if is_compact else _read_marginals(path)
    try:
        constraint = _read_constraints(path, marginals.shape).constraint if is_compact else constraint_of
        modes = tuple(mode_of(row, q, constraint) for row, q in zip(header["modes"], marginals, strict=True))
        tree = tuple(node_of(row, constraint) for row in header["tree"])
        _check_numbers(modes, marginals)
        notes = tuple(str(note) for note in header["notes"])
        calibration = _read_calibration(path, header, marginals.shape) if "calibration" in header else None
        if header["version"] == COLLAPSED:
            given = _read_conditionals(path, header[CONDITIONALS], marginals.shape)
            labelings = _read_labels(path, "labelings", marginals.shape[:-1], marginals.shape[-1])
            modes = tuple(
                replace(mode, labels=labels, conditionals=some)
                for mode, labels, some in zip(modes, labelings, given, strict=True)
            )
            modes = _merged(modes, header.get("cells", [1] * len(modes)))
        if calibration is not None and len(calibration.weights) != len(modes):
            raise ValueError("calibrated modes must have one cell each")
        map_energy = header.get("map_energy")
        best = None if map_energy is None else _read_labels(path, "best", marginals.shape[1:-1], marginals.shape[-1])
        narrowed = tuple((tuple(map(int, scope)), float(loss)) for scope, loss in header.get("narrowed_tables", ()))
        return {
            "modes": modes, "tree": tree, "t_max": float(header["t_max"]), "notes": notes, "calibration": calibration,
            "exact_log_z": _optional(header.get("exact_log_z")), "narrowed_tables": narrowed, "best": best,
            "log_z_estimate": _optional(header.get("log_z_estimate")), "map_energy": float_or_nan(map_energy),
        }  # fmt: skip
    except (KeyError, TypeError, ValueError, OverflowError, MixfieldError) as error:
        raise FileFormatError(f"{path} is damaged: {error}") from None


def _optional(value: float | None) -> float | None:
    return None if value is None else float(value)


def _merged(cells: tuple[Mode, ...], counts: list[Any]) -> tuple[Mode, ...]:
    """Modes of ``counts`` cells each."""
    if not all(isinstance(count, int) and count > 0 for count in counts) or sum(counts) != len(cells):
        raise ValueError(f"cells must be numbers above 0 that sum to {len(cells)}")
    remaining = iter(cells)
    return tuple(merged_mode(list(islice(remaining, count))) for count in counts)


def _conditional_arrays(modes: Sequence[Mode]) -> tuple[list[int], dict[str, NDArray[Any]]]:
    """Which tables of eliminated variables each mode has, -1 for none, and the arrays of those that differ."""
    numbers: dict[bytes, int] = {}
    arrays: dict[str, NDArray[Any]] = {}
    of_mode = []
    for mode in modes:
        if mode.conditionals is None:
            of_mode.append(-1)
            continue
        own = mode.conditionals.arrays()
        number = numbers.setdefault(b"".join(array.tobytes() for array in own.values()), len(numbers))
        arrays |= {f"{CONDITIONALS}_{number}_{name}": array for name, array in own.items()}
        of_mode.append(number)
    return of_mode, arrays


def _read_conditionals(
    path: str | PathLike[str], of_mode: list[Any], shape: tuple[int, ...]
) -> list[Conditionals | None]:
    """The eliminated variables of each mode of a file whose marginals have shape (K, *shape, L)."""
    if len(of_mode) != shape[0] or not all(isinstance(k, int) and -1 <= k < shape[0] for k in of_mode):
        raise ValueError(f"{CONDITIONALS} must be a number for each of {shape[0]} modes")
    found = {k: _read_tables(path, k, shape) for k in sorted(set(of_mode)) if k >= 0}
    return [found.get(k) for k in of_mode]


def _read_tables(path: str | PathLike[str], number: int, shape: tuple[int, ...]) -> Conditionals:
    """One set of tables."""

    def check(name: str, header: _npy.Header, file_size: int) -> None:
        wanted = np.float64 if name.endswith("_values") else np.int64
        if header.dtype != wanted or header.nbytes > _files.largest_content(file_size):
            raise ValueError(f"{name} must be {np.dtype(wanted)}, got {header.dtype} of shape {header.shape}")

    arrays = {
        entry.name: _read_array(path, f"{CONDITIONALS}_{number}_{entry.name}", check) for entry in fields(Conditionals)
    }
    conditionals = Conditionals(**arrays)
    conditionals.check(math.prod(shape[1:-1]), shape[-1])
    return conditionals


def _read_labels(path: str | PathLike[str], name: str, shape: tuple[int, ...], n_labels: int) -> NDArray[np.int64]:
    """Labels of this shape."""
    labels = np.asarray(_read_array(path, name, _npy.exactly(np.int64, shape)))
    if labels.size and not (labels.min() >= 0 and labels.max() < n_labels):
        raise ValueError(f"{name} must lie in 0..{n_labels - 1}")
    return labels


def _calibration_header(calibration: Calibration) -> dict[str, Any]:
    return {
        "weights": calibration.weights.tolist(),
        "answers": [None if np.isnan(answer) else float(answer) for answer in calibration.answers],
        **asdict(calibration.blending),
        "without_doubt": calibration.without_doubt,
    }


def _evidence(evidence: NDArray[np.floating], *, compact: bool) -> dict[str, NDArray[Any]]:
    """The arrays of the evidence (*shape, L) of a calibration."""
    if not compact:
        return {"evidence": np.asarray(evidence, np.float32)}
    labels, packed = _levels.pack(evidence[None])
    return {"evidence_labels": labels.astype(np.int64), "evidence_levels": packed}


def _read_evidence(path: str | PathLike[str], shape: tuple[int, ...], *, compact: bool) -> NDArray[np.float32]:
    """The evidence of shape (*shape, L)."""
    if compact:
        return _unpacked(path, "evidence_labels", "evidence_levels", shape)[0].astype(np.float32)
    return np.asarray(_read_array(path, "evidence", _npy.exactly(np.float32, shape)))


def _read_calibration(path: str | PathLike[str], header: dict[str, Any], shape: tuple[int, ...]) -> Calibration:
    """The calibration of a file whose marginals have shape (K, *shape, L)."""
    row, evidence = header["calibration"], _read_evidence(path, shape[1:], compact=header["version"] == COMPACT)
    weights = np.array(row["weights"], np.float64)
    answers = np.array([np.nan if answer is None else float(answer) for answer in row["answers"]])
    if weights.shape != shape[:1] or answers.shape != weights.shape:
        raise ValueError(f"the calibration must have one weight and one answer per mode ({shape[0]})")
    if not (weights >= 0).all() or not np.isclose(weights.sum(), 1.0) or not (evidence >= 0).all():
        raise ValueError("weights and evidence of the calibration must be probabilities")
    names = ("mode_exponent", "evidence_exponent", "outliers")
    blending, sure = Blend(*(float(row.get(name, 0.0)) for name in names)), row.get("without_doubt", False)
    if not isinstance(sure, bool) or (sure and len(weights) > 1):
        raise ValueError(f"without_doubt must be false, or true with one mode, got {sure!r}")
    return Calibration(weights, answers, evidence, blending, sure)


def _read_marginals(path: str | PathLike[str]) -> NDArray[np.float64]:
    """The marginals (K, *shape, L) of an exact file."""
    return np.asarray(_read_array(path, "marginals", _check_marginals), np.float64)


def _read_constraints(path: str | PathLike[str], shape: tuple[int, ...]) -> SharedConstraints:
    """The groups of a compact file with marginals of this shape; the cuts of K modes take about 16 K n bytes."""
    n_modes, n = shape[0], math.prod(shape[1:-1])
    largest = max(CUTS * FLOAT64 * n_modes * n, _files.largest_content(os.path.getsize(path)))
    runs, counts = _read_array(path, "runs", _check_runs), _read_array(path, "run_counts", _check_integers)
    return SharedConstraints.restored(runs, counts, n, largest)


def _check_runs(name: str, header: _npy.Header, file_size: int) -> None:  # noqa: ARG001
    if header.dtype != np.int64 or len(header.shape) != 2 or header.shape[1] != 2:
        raise ValueError(f"{name} must be integers (R, 2), got {header.dtype} of shape {header.shape}")


def _level_arrays(marginals: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """The arrays of a compact file, see `mixfield._levels`."""
    labels, packed = _levels.pack(marginals)
    shape = np.array(marginals.shape[1:], np.int64)  # (*shape, L)
    return {"labels": labels.astype(np.int64), "shape": shape, "levels": packed}


def _read_levels(path: str | PathLike[str]) -> NDArray[np.float64]:
    """The marginals (K, *shape, L) of a compact file."""
    sizes = _read_array(path, "shape", _check_integers)
    if len(sizes) < 1 or sizes.min() < 1:
        raise FileFormatError(f"{path} {COMPLAINT}: its shape must be (*shape, L), got {sizes.tolist()[:9]}")
    return _unpacked(path, "labels", "levels", tuple(sizes.tolist()))


def _unpacked(path: str | PathLike[str], of_labels: str, of_levels: str, sizes: tuple[int, ...]) -> NDArray[np.float64]:
    """Probabilities (K, *shape, L) of two arrays of `_levels.pack`; ``sizes`` are (*shape, L)."""
    labels = np.asarray(_read_array(path, of_labels, _check_integers), np.int64)
    *shape, n_labels = sizes

    def check(name: str, header: _npy.Header, file_size: int) -> None:
        """The size of the levels as float64, before they are read; labels that do not occur need no memory."""
        if header.dtype != np.uint8 or len(header.shape) != 4:
            raise ValueError(f"{name} must be bytes (2, A, K, n), got {header.dtype} of shape {header.shape}")
        unpacked = FLOAT64 * math.prod(header.shape[1:])
        if n_labels > MAX_LABELS or unpacked > max(ALWAYS_UNPACKED, MAX_UNPACKING * file_size):
            raise ValueError(f"a file of {file_size} bytes cannot have {name} of shape {header.shape}")

    try:
        return _levels.unpack(labels, _read_array(path, of_levels, check), tuple(shape), n_labels)
    except (ValueError, IndexError) as error:
        raise FileFormatError(f"{path} {COMPLAINT}: {error}") from None


def _check_integers(name: str, header: _npy.Header, file_size: int) -> None:  # noqa: ARG001
    """A short list of integers."""
    if header.dtype != np.int64 or len(header.shape) != 1 or header.size > 1 << 20:
        raise ValueError(f"{name} must be a list of integers, got {header.dtype} of shape {header.shape}")


def _read_header(path: str | PathLike[str]) -> dict[str, Any]:
    """The header of a posterior of a version that is read."""
    text = _read_array(path, "header", _check_header).tobytes()
    try:
        if text.count(b"[") + text.count(b"{") > MAX_BRACKETS:
            raise ValueError(f"its header has more than {MAX_BRACKETS} lists and objects")
        header = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"{path} {COMPLAINT}: {error}") from None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise FileFormatError(f"{path} {COMPLAINT}: its header does not say {FORMAT!r}")
    if header.get("version") not in (EXACT, COMPACT, COLLAPSED):
        raise FileFormatError(
            f"{path} has format version {header.get('version')}, this mixfield reads versions up to {VERSION}; "
            "install the mixfield that wrote it, or a newer one"
        )
    return header


def _read_array(path: str | PathLike[str], name: str, check: _npy.Check) -> NDArray[Any]:
    return _npy.read_npz(path, COMPLAINT, lambda _: [name], check)[name]


def _check_header(name: str, header: _npy.Header, file_size: int) -> None:
    """Type and size of the JSON text before it is read."""
    largest = max(ALWAYS_PARSED, MAX_COMPRESSION * file_size)
    if header.dtype != np.uint8 or len(header.shape) != 1 or header.nbytes > largest:
        raise ValueError(f"{name} must be a text of up to {largest} bytes, got {header.dtype} of shape {header.shape}")


def _check_marginals(name: str, header: _npy.Header, file_size: int) -> None:
    """Type and size of the marginals before they are read; they become float64."""
    if header.dtype.kind != "f" or header.dtype.itemsize not in (4, 8) or len(header.shape) < 2:
        raise ValueError(f"{name} must be floats (K, *shape, L), got {header.dtype} of shape {header.shape}")
    if FLOAT64 * header.size > _files.largest_content(file_size):
        raise ValueError(f"a file of {file_size} bytes cannot have {name} of shape {header.shape}")


def _check_numbers(modes: tuple[Mode, ...], marginals: NDArray[np.float64]) -> None:
    """Bounds and probabilities are numbers, and there is a mode."""
    if not modes or marginals.ndim < 2 or marginals.shape[-1] == 0:
        raise ValueError(f"marginals must be of one or more modes and labels, got shape {marginals.shape}")
    if not all(mode.log_z < np.inf for mode in modes):
        raise ValueError("the bound of a mode must be a number below infinity")
    if marginals.size and not (marginals.min() >= 0 and marginals.max() <= 1 + 1e-6):  # not for NaN either
        raise ValueError("marginals must be probabilities")
