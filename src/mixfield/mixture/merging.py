"""One mode from the modes of several disjoint cells: their mixture.

    Q = sum_c exp(A_c - A) Q_c,    A = log sum_c exp(A_c)

The bound, the marginals, the samples and the densities of a posterior stay those of all its cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

import numpy as np

from mixfield import _arrays, _simplex
from mixfield.solvers.mode import Mode


def merged_mode(cells: Sequence[Mode]) -> Mode:
    """The mixture of modes of disjoint cells, or of such mixtures: the heaviest first, with its labeling."""
    if len(cells) == 1:
        return cells[0]
    bounds = np.array([cell.log_z for cell in cells])
    shares = _simplex.softmax(bounds)
    return replace(
        cells[0],
        marginals=_arrays.frozen(np.tensordot(shares, np.stack([cell.marginals for cell in cells]), 1)),
        log_z=float(_simplex.log_sum_exp(bounds)),
        constraints=_common(cell.constraints for cell in cells),
        mass_inside=float(shares @ [cell.mass_inside for cell in cells]),
        converged=all(cell.converged for cell in cells),
        labels=cells[0].labeling(),
        conditionals=None,
        cells=tuple(part for cell in cells for _, part in cell.components()),
    )


def _common(paths: Iterable[tuple[Any, ...]]) -> tuple[Any, ...]:
    """The constraints with which all paths from the root begin."""
    steps = takewhile(lambda step: all(one is step[0] for one in step), zip(*paths, strict=False))
    return tuple(step[0] for step in steps)
