"""Mean field, two modes and exact inference on the field with four zones."""

from __future__ import annotations

import numpy as np

from experiments.measurements import Row
from mixfield.reports.motivation import motivation

SIZE = 16


def tasks(n_seeds: int) -> dict[str, tuple[int]]:
    """Name and seed of every measurement."""
    return {f"seed {seed}": (seed,) for seed in range(n_seeds)}


def measure(seed: int, size: int = SIZE) -> Row:
    """Compare mean field and two modes with the exact marginals of one field of size x size variables."""
    result = motivation(size, rng=seed)
    quarter = np.zeros((size, size), bool)
    quarter[size // 2 :, size // 2 :] = True
    single, mixture, exact = (
        q[..., 1][quarter] for q in (result.single.marginals, result.posterior.marginals(), result.true_marginals)
    )
    return {
        "seed": seed,
        "mean_field_certainty": float(np.maximum(single, 1 - single).mean()),
        "mean_field_has_one_label": bool((single > 0.5).all() or (single < 0.5).all()),
        "exactly_the_quarter_flips": bool((result.flipped == quarter).all()),
        "weights": result.posterior.weights.tolist(),
        "log_odds": result.log_odds,
        "exact_log_odds": result.true_log_odds,
        "kl_mean_field": result.true_log_z - result.single.log_z,
        "kl_two_modes": result.true_log_z - result.posterior.log_z,
        "marginal_error_mean_field": float(np.abs(single - exact).mean()),
        "marginal_error_two_modes": float(np.abs(mixture - exact).mean()),
    }
