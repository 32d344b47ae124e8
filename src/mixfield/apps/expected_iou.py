"""Labels with a high expected intersection over union, from marginals.

The most probable label of each pixel maximises the expected number of right pixels.  Mean IoU counts every label alike,
however few pixels it has.  With I_c and U_c the expected intersection and union of label c, a pixel that is given label
c changes ``sum_c I_c / U_c`` by about ``q_c / U_c`` at first order, so that a label of few pixels is worth more.  The
correction is damped, since unions are uncertain themselves: a pixel gets the label with the largest
``q_c / U_c^balance``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

BALANCE = 0.33
SMALLEST_SHARE = 0.02  # of the image, below which a union counts as this
UPDATES = 6  # of unions and labels
PRESENT = 0.01  # share of the image at which a label is present for the most part


def balanced_labels(marginals: NDArray[np.floating], balance: float = BALANCE) -> NDArray[np.int64]:
    """Labels with a high expected IoU.

    Parameters
    ----------
    marginals : (*shape, L).
    balance : 0 gives the most probable labels, 1 the first-order rule.

    Returns
    -------
    (*shape) labels, all of which are somewhere the most probable one.
    """
    q = marginals.reshape(-1, marginals.shape[-1])
    labels = q.argmax(-1)
    for _ in range(UPDATES):
        before, labels = labels, np.argmax(q * _worth(q, labels, balance), -1)
        if (labels == before).all():
            break
    return np.asarray(labels.reshape(marginals.shape[:-1]), np.int64)


def _worth(q: NDArray[np.floating], labels: NDArray[np.intp], balance: float) -> NDArray[np.floating]:
    """(L,) ``U_c^-balance`` of the labels that occur, 0 for the others; unions are shares of the pixels."""
    n, n_labels = q.shape
    areas = np.bincount(labels, minlength=n_labels)
    right = np.bincount(labels, np.take_along_axis(q, labels[:, None], 1)[:, 0], minlength=n_labels)
    unions = (q.sum(0, dtype=np.float64) + areas - right) / n
    return np.where(areas > 0, np.maximum(unions, SMALLEST_SHARE) ** -balance, 0.0).astype(q.dtype)


def expected_iou(total: Floats, area: Floats, right: Floats) -> float:
    """Mean over labels of the expected intersection over the expected union, each label as far as it is present.

    Parameters
    ----------
    total, area, right : (L,) expected shares of the labels in the truth, their shares in a labeling, and of these the
        expected share that is right.
    """
    present = -np.expm1(-np.maximum(total, area) / PRESENT)
    return float(present @ (right / np.maximum(total + area - right, 1e-12)) / present.sum())
