"""A segmentation from strokes as files: what ``mixfield segment`` and ``mixfield demo`` write."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mixfield._progress import Progress
from mixfield.apps.evidence import UNKNOWN
from mixfield.apps.strokes import segment_strokes
from mixfield.reports.segmentation import Given, write_segmentation
from mixfield.solvers.options import Solver


def write_strokes(
    folder: Path,
    image: ArrayLike,
    strokes: ArrayLike,
    n_modes: int,
    *,
    names: Sequence[str] = (),
    unknown: Sequence[int] = UNKNOWN,
    n_labels: int | None = None,
    rng: int = 0,
    solver: Solver | None = None,
    progress: Progress = None,
) -> dict[str, Any]:
    """Segment an image by strokes and write the results; the parameters are those of `mixfield.segment`.

    Returns what `mixfield.reports.segmentation.write_segmentation` does.
    """
    posterior = segment_strokes(
        image, strokes, n_modes, unknown=unknown, n_labels=n_labels, rng=rng, solver=solver, progress=progress
    )
    labels = np.asarray(strokes).astype(np.int64)
    drawn = np.where(np.isin(labels, np.asarray(unknown)), -1, labels)
    return write_segmentation(folder, image, posterior, None, Given(strokes=drawn, names=names))
