"""Bootstrap intervals over images, frames or photographs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

DRAWS = 2000


def _mean(rows: NDArray[Any]) -> Any:
    return rows.mean(0)


def interval(
    values: Sequence[Any] | NDArray[Any], statistic: Callable[[NDArray[Any]], Any] = _mean, draws: int = DRAWS
) -> tuple[float, float]:
    """The central 95 % of a statistic of resampled rows.

    Parameters
    ----------
    values : (n, ...) one row per image.
    statistic : of resampled rows (n, ...); their mean by default.
    draws : number of resamples.
    """
    rows, rng = np.asarray(values, np.float64), np.random.default_rng(0)
    chosen = rng.integers(0, len(rows), (draws, len(rows)))
    low, high = np.quantile([statistic(rows[one]) for one in chosen], (0.025, 0.975))
    return float(low), float(high)
