"""The claims of section 3 of the paper against the measurements."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from experiments.claims import Claim, confirmed, verdict
from experiments.measurements import Row

CERTAIN = 0.9  # probability from which mean field has decided on a label


def claims(rows: Sequence[Row]) -> list[Claim]:
    """All claims of the page."""
    return [_one_label(rows), _two_modes(rows), _equal_weights(rows), _exact_odds(rows), _closer(rows)]


def _mean(rows: Sequence[Row], key: str) -> float:
    return float(np.mean([row[key] for row in rows]))


def _one_label(rows: Sequence[Row]) -> Claim:
    count = sum(row["mean_field_certainty"] > CERTAIN and row["mean_field_has_one_label"] for row in rows)
    number = f"{_mean(rows, 'mean_field_certainty'):.3f} on average; above {CERTAIN:g} with one label in {count} of "
    number += f"{len(rows)} drawings"
    if count < len(rows):
        number += "; in the others it is as certain, but divides the quarter between both labels"
    claim = "mean field gives all pixels of the bottom right quarter the same label with high probability"
    return Claim(claim, number, verdict(count, len(rows)))


def _two_modes(rows: Sequence[Row]) -> Claim:
    count = sum(row["exactly_the_quarter_flips"] for row in rows)
    claim = "multi-modal mean field produces two modes, one with the quarter at 0, one with it at 1"
    number = f"exactly the quarter flips, and nothing else, in {count} of {len(rows)}"
    return Claim(claim, number, verdict(count, len(rows)))


def _equal_weights(rows: Sequence[Row]) -> Claim:
    smaller = [min(row["weights"]) for row in rows]
    exact = [1 / (1 + np.exp(abs(row["exact_log_odds"]))) for row in rows]
    measured, true = (f"{min(weights):.2f} to {max(weights):.2f}" for weights in (smaller, exact))
    number = (
        f"the smaller weight is {measured}, the exact one {true}: the quarter's unaries sum to zero, but its eight "
        "weak edges to the quarter above favour label 1"
    )
    return Claim(
        "the two modes are equally likely", number, "likely, not equally" if min(smaller) < 0.4 else "confirmed"
    )


def _exact_odds(rows: Sequence[Row]) -> Claim:
    errors = [abs(row["log_odds"] - row["exact_log_odds"]) for row in rows]
    number = f"log-odds off by {np.mean(errors):.2f} nats on average, at most {max(errors):.2f}"
    return Claim("not in the paper: the weights are the exact odds", number, confirmed(max(errors) < 0.5))


def _closer(rows: Sequence[Row]) -> Claim:
    number = (
        f"KL {_mean(rows, 'kl_mean_field'):.2f} to {_mean(rows, 'kl_two_modes'):.2f} nats; error of the quarter's "
        f"marginals {_mean(rows, 'marginal_error_mean_field'):.3f} to {_mean(rows, 'marginal_error_two_modes'):.3f}"
    )
    count = sum(row["kl_two_modes"] < row["kl_mean_field"] for row in rows)
    return Claim("not in the paper: two modes are closer to the posterior", number, verdict(count, len(rows)))
