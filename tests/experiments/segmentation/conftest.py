"""Rows as `measure` returns them, with random gains."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.segmentation.methods import methods
from experiments.segmentation.plan import NETWORKS, STEPS, TUNED


def make_row(net, step, image, method, rng):
    """A measurement: mean field first, then better and worse segmentations."""
    count = 32 if image % 7 == 0 and method in ("ours", *TUNED[net]) else 8
    ious = 0.5 + np.append(0.0, 0.1 * rng.normal(size=count - 1))
    row = {"net": net, "set": "voc", "image": str(image), "step": step, "method": method, "wanted": count}
    row |= {"mean_field": 0.5, "ious": ious.tolist(), "spent": list(range(20, 20 * count + 1, 20)), "seconds": 1.0}
    if method == "ours":
        q = rng.dirichlet(np.ones(3), (count + 1, 10))
        features = rng.normal(size=(count, 7)) * (np.arange(count) > 0)[:, None]
        row |= {"by_weight": ious.tolist(), "log_z": (-np.arange(count)).tolist(), "features": features.tolist()}
        row |= {"likelihoods": {"true": [0] * 10, "q": np.rint(1000 * q).tolist()}}
    return row


@pytest.fixture(scope="session")
def complete_rows():
    """35 images at both sizes: all methods on every seventh, the main ones on all."""
    rng = np.random.default_rng(0)
    return [
        make_row(net, step, image, method, rng)
        for net in NETWORKS
        for step in STEPS
        for image in range(35)
        for method in methods()
        if image % 7 == 0 or method in ("ours", *TUNED[net])
    ]


@pytest.fixture(scope="session")
def partial_rows():
    """The main methods on 35 images at a third of the size, and on 14 at full resolution."""
    rng = np.random.default_rng(0)
    return [
        make_row(net, step, image, method, rng)
        for net in NETWORKS
        for step in STEPS
        for image in range(35)
        for method in ("ours", *TUNED[net])
        if step > 1 or image < 14
    ]
