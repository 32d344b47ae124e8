"""Costs and support of some pixels to their new probabilities, with the terms of the free energy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mixfield import kernels
from mixfield.solvers.layout import Layout

Floats = NDArray[np.float64]
Float32s = NDArray[np.float32]

MANY_LABELS = 8  # from so many labels on, those of one pixel fill the vector registers
COLUMNS = 256  # modes of pixels that the other kernels process together


def update_pixels(
    costs: Float32s,
    bias: Float32s,
    total_support: Float32s,
    support: Float32s,
    old: Float32s,
    layout: Layout,
    beta: Float32s,
    pixels: tuple[int, int],
    new: Float32s,
    *,
    monitor: bool = True,
) -> tuple[Floats, Floats]:
    """Write ``softmax((support - costs - bias) beta)`` to ``new``, for the pixels ``first`` to ``last``.

    ``costs``, ``bias`` and ``total_support`` are those of the whole field; ``support``, ``old`` and ``new`` (b, C) of
    these pixels alone.  ``new`` may be ``old``.

    Returns
    -------
    (3, K) support of ``old``, cost and entropy of ``new``; and (K,) the largest changes.
    """
    n_modes, (first, last) = len(beta), pixels
    terms, change = np.zeros((3, n_modes)), np.zeros(n_modes)
    if _label_vectors(costs, bias, layout):
        end = min(last, len(costs) - 1)  # the kernel reads a little beyond the end of a row of costs
        kernels.pixel_rows.update(costs, support, old, beta[0], monitor, first, end, new, terms.reshape(-1), change)
        support, old, new, first = support[end - first :], old[end - first :], new[end - first :], end
    if first < last:
        columns, moved = _columns(3, n_modes), _columns(1, n_modes)[0].astype(np.float32)
        kernels.softmax.update(
            costs, bias, total_support, support, old, layout.stored, beta, monitor, first, last, new, columns, moved
        )
        terms += _summed(columns, n_modes)
        change = np.maximum(change, moved.reshape(-1, n_modes).max(0))
    return terms, change


def bound_terms(
    costs: Float32s,
    total_support: Float32s,
    support: Float32s,
    values: Float32s,
    layout: Layout,
    pixels: tuple[int, int],
    *,
    bias: Float32s | None = None,
) -> Floats:
    """(3, K) support, cost (of ``bias`` too) and minus the entropy of pixels ``first`` to ``last`` with ``values``."""
    (first, last), n_modes = pixels, layout.n_modes
    terms = np.zeros((3, n_modes))
    extra = np.empty((len(costs), 0), np.float32) if bias is None else bias
    if bias is None and _label_vectors(costs, extra, layout):
        end = min(last, len(costs) - 1)
        kernels.pixel_rows.bound_terms(costs, support, values, first, end, terms[:, 0])
        support, values, first = support[end - first :], values[end - first :], end
    if first < last:
        columns = _columns(3, n_modes)
        kernels.softmax.bound_terms(
            costs, extra, total_support, support, values, layout.stored, n_modes, np.int64(first), last, columns
        )
        terms += _summed(columns, n_modes)
    return terms


def _label_vectors(costs: Float32s, bias: Float32s, layout: Layout) -> bool:
    """Whether one pixel's labels are processed together, instead of one label of many pixels."""
    return layout.n_modes == 1 and bias.shape[1] == 0 and MANY_LABELS <= costs.shape[1] == layout.stored


def _columns(terms: int, n_modes: int) -> Floats:
    """Zeros (terms, s * K): a column for each mode of the s pixels, a multiple of eight, that go together."""
    return np.zeros((terms, max(1, COLUMNS // (8 * n_modes)) * 8 * n_modes))


def _summed(columns: Floats, n_modes: int) -> Floats:
    """(terms, K) sums over the columns of each mode."""
    return np.asarray(columns.reshape(len(columns), -1, n_modes).sum(1))
