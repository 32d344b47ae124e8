"""The constants of the temporal choice: a logistic regression on the modes of annotated sequences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from experiments.measurements import Row
from mixfield.apps import Consistency

Floats = NDArray[np.float64]

RESERVE = 0.8  # nats that caution adds to the fitted odds: a mode must be better with probability .69
PENALTY = 1e-4  # of squared coefficients
OVERLAP = 10.0  # scale of gains in overlap, so that coefficients are of one order


def fit(rows: Sequence[Row]) -> Consistency:
    """`Consistency` whose log-odds fit best whether modes are better than mean field, on sequences and their thinnings.

    The frames around are taken to be as in mean field.
    """
    shape = Consistency()
    examples = [one for row in rows for chain in row["chains"] for one in _examples(row, chain, shape.saturation)]
    features, better = (np.array(part) for part in zip(*examples, strict=True))

    def loss(b: Floats) -> float:
        odds = features @ b
        return float(np.mean(np.logaddexp(0, odds) - better * odds) + PENALTY * b @ b)

    intercept, network, colour, overlap = minimize(loss, np.zeros(4)).x.round(3).tolist()
    return replace(shape, network=network, colour=colour, shape=OVERLAP * overlap, caution=RESERVE - intercept)


def _examples(row: Row, chain: Row, saturation: float) -> Iterator[tuple[list[float], bool]]:
    """Features and truth of each mode other than mean field."""
    frames = row["frames"][chain["start"] :: chain["spacing"]]
    gains = [np.clip(np.array(step), -saturation, saturation) for step in chain["gains"]]
    for t, frame in enumerate(frames):
        overlap = np.zeros(len(frame["network"]))
        if t > 0:
            overlap += gains[t - 1][frames[t - 1]["root"]]
        if t < len(gains):
            overlap += gains[t][:, frames[t + 1]["root"]]
        for k, (network, better) in enumerate(zip(frame["network"], frame["better"], strict=True)):
            if k != frame["root"]:
                yield [1.0, network, chain["likeness"][t][k], OVERLAP * overlap[k]], better
