"""Arrays are judged once, at the public door; below it they are trusted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield.errors import MixfieldError

Floats = NDArray[np.float64]

LARGEST = 1e100  # sums and squares of such numbers do not overflow
SMALL, LARGE = 1e-30, 1e30  # also in float32


def as_numpy(name: str, value: Any) -> NDArray[Any]:
    """A NumPy array from anything that holds one.

    Tensors of PyTorch are detached from their graph and copied to the CPU; arrays of xarray, Dask, JAX and others
    convert themselves.  Arrays with masked entries and sparse matrices are refused: the values of masked entries are
    not meant, and a sparse matrix becomes an object.
    """
    if type(value) is np.ndarray:
        return value
    if isinstance(value, np.ma.MaskedArray):
        return _unmasked(name, value)
    if not hasattr(value, "__array__") and hasattr(value, "toarray"):
        raise MixfieldError(f"{name} must be a dense array, got {_type_name(value)}; call its .toarray()")
    try:
        return np.asarray(_on_cpu(value) if hasattr(value, "detach") else value)
    except (TypeError, ValueError, RuntimeError) as error:
        raise MixfieldError(f"{name} must be an array of numbers, got {_type_name(value)}: {error}") from None


def _unmasked(name: str, value: np.ma.MaskedArray[Any, Any]) -> NDArray[Any]:
    """The data of a masked array of which no entry is masked."""
    masked = int(np.count_nonzero(np.ma.getmaskarray(value)))
    if masked:
        raise MixfieldError(
            f"{name} is a masked array with {masked} masked entries; fill them with .filled(value), "
            "for instance with -1 where a label map is unknown"
        )
    return np.asarray(value.data)


def _on_cpu(tensor: Any) -> Any:
    """A tensor of PyTorch without its gradient, in main memory; in float32 if NumPy does not know its dtype."""
    plain = tensor.detach().cpu()
    try:
        return plain.numpy()
    except TypeError:  # bfloat16
        return plain.float().numpy()


def _type_name(value: object) -> str:
    """The type with its package, such as ``torch.Tensor``."""
    kind = type(value)
    package = kind.__module__.partition(".")[0]
    return kind.__name__ if package == "builtins" else f"{package}.{kind.__name__}"


def floats(name: str, value: ArrayLike, *, largest: float = LARGEST) -> Floats:
    """A contiguous native float64 array without NaN and -inf (costs may be +inf), of numbers up to ``largest``."""
    given = as_numpy(name, value)
    if np.iscomplexobj(given):
        raise MixfieldError(f"{name} must hold real numbers, got dtype {given.dtype}; take its .real")
    try:
        array = np.asarray(given, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise MixfieldError(f"{name} must be an array of numbers, got {type(value).__name__}: {error}") from None
    if np.isnan(array).any():
        where = tuple(int(i) for i in np.argwhere(np.isnan(array))[0])
        raise MixfieldError(f"{name} must not contain NaN, got one at index {where}")
    if (array == -np.inf).any():
        where = tuple(int(i) for i in np.argwhere(array == -np.inf)[0])
        raise MixfieldError(
            f"{name} holds costs, which may be +inf (forbidden) but not -inf, got one at index {where}; "
            "to force a label, forbid the others"
        )
    if array.size and np.abs(array, where=array < np.inf, out=np.zeros_like(array)).max() > largest:
        raise MixfieldError(f"{name} must hold numbers from -{largest:g} to {largest:g}, got {_extreme(array):g}")
    return array


def _extreme(array: Floats) -> float:
    """The finite number of the largest size."""
    finite = array[np.isfinite(array)]
    return float(finite[np.argmax(np.abs(finite))])


def integers(name: str, value: ArrayLike, *, low: int, high: int) -> NDArray[np.int64]:
    """A contiguous int64 array with every entry in ``low <= x < high``."""
    array = as_numpy(name, value)
    if array.size == 0:
        return np.zeros(array.shape, np.int64)
    whole = array.dtype.kind == "f" and bool(np.all(np.isfinite(array) & (array == np.floor(array))))
    if array.dtype.kind not in "iu" and not whole:
        raise MixfieldError(f"{name} must hold integers, got dtype {array.dtype}")
    outside = (array < low) | (array >= high)
    if outside.any():
        where = tuple(int(i) for i in np.argwhere(outside)[0])
        raise MixfieldError(f"{name} must lie in {low}..{high - 1}, got {array[where]:.15g} at index {where}")
    return np.ascontiguousarray(array, dtype=np.int64)


def check_shape(name: str, array: NDArray[Any], expected: Sequence[int], reason: str) -> None:
    """Complain unless ``array`` has the expected shape."""
    if array.shape != tuple(expected):
        raise MixfieldError(f"{name} must have shape {tuple(expected)} {reason}, got {array.shape}")


def generator(rng: int | np.random.Generator) -> np.random.Generator:
    """A random generator from a seed or a generator."""
    if isinstance(rng, np.random.Generator):
        return rng
    if isinstance(rng, bool) or not isinstance(rng, (int, np.integer)) or rng < 0:
        raise MixfieldError(f"rng must be a seed (an integer >= 0) or a numpy Generator, got {rng!r}")
    return np.random.default_rng(int(rng))


def positive(name: str, value: float) -> float:
    """A finite number above zero, neither so large nor so small that its powers cannot be held."""
    if isinstance(value, bool) or not (isinstance(value, (int, float, np.integer, np.floating)) and 0 < value < np.inf):
        raise MixfieldError(f"{name} must be a finite number above 0, got {value!r}")
    if not SMALL <= value <= LARGE:
        raise MixfieldError(f"{name} must lie in {SMALL:g}..{LARGE:g}, got {str(value)[:40]}")
    return float(value)


def share(name: str, value: float) -> float:
    """A number from 0 to 1."""
    if not (isinstance(value, (int, float, np.integer, np.floating)) and 0 <= value <= 1):
        raise MixfieldError(f"{name} must lie between 0 and 1, got {value!r}")
    return float(value)


def at_least(name: str, value: int, low: int) -> int:
    """An integer not below ``low``."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < low:
        raise MixfieldError(f"{name} must be an integer >= {low}, got {value!r}")
    return int(value)


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """The same array, read-only."""
    array.setflags(write=False)
    return array


def starts(lengths: ArrayLike) -> NDArray[np.int64]:
    """Where each of several consecutive parts begins, and where the last ends."""
    return np.concatenate([[0], np.cumsum(np.asarray(lengths, np.int64))]).astype(np.int64)


def block_means(values: NDArray[Any], side: int) -> Floats:
    """Means over squares of ``side`` x ``side`` pixels; squares at the right and bottom edge are cut."""
    height, width = values.shape
    rows, columns = np.arange(0, height, side), np.arange(0, width, side)
    exact: Any = np.int64 if values.dtype.itemsize == 1 else np.float64
    strips, sums = np.zeros((len(rows), width), exact), np.zeros((len(rows), len(columns)), exact)
    for k in range(side):  # whole rows first: they are contiguous
        part = values[k::side]
        strips[: len(part)] += part
    for k in range(side):
        part = strips[:, k::side]
        sums[:, : part.shape[1]] += part
    counts = np.minimum(rows + side, height)[:, None] - rows[:, None]
    return np.asarray(sums / (counts * (np.minimum(columns + side, width) - columns)))
