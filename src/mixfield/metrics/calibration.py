"""Whether probabilities are right: the expected calibration error."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mixfield import _arrays
from mixfield.errors import MixfieldError


def calibration_error(probabilities: ArrayLike, happened: ArrayLike, bins: int = 10) -> float:
    """Expected calibration error: mean distance between probability and frequency, over bins of equal count.

    Parameters
    ----------
    probabilities : (n,) that something happens.
    happened : (n,) whether it did.
    bins : number of bins.

    Notes
    -----
    ``sum_b n_b / n |mean probability of bin b - frequency in bin b|`` with the n events sorted by probability.

    Examples
    --------
    >>> from mixfield.metrics import calibration_error
    >>> calibration_error([0.5, 0.5, 1.0, 1.0], [True, False, True, True], bins=2)
    0.0
    """
    p, y = _arrays.floats("probabilities", probabilities), _arrays.floats("happened", happened)
    _arrays.check_shape("happened", y, p.shape, "to match the probabilities")
    if p.ndim != 1 or len(p) == 0:
        raise MixfieldError(f"probabilities must be one or more numbers (n,), got shape {p.shape}")
    order = np.argsort(p, kind="stable")
    edges = np.unique(np.linspace(0, len(p), min(_arrays.at_least("bins", bins, 1), len(p)) + 1).astype(int))
    return float(np.abs(np.add.reduceat((p - y)[order], edges[:-1])).sum() / len(p))
