"""The claims of the appendix of the paper against the measurements."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.claims import Claim, confirmed, verdict
from experiments.measurements import Row
from experiments.temperature.models import GAMMA, HIGH_ENTROPY

T_C = GAMMA / 2
TOLERANCE = 0.05  # relative deviation of a transition from T_c


def claims(results: dict[str, Any]) -> list[Claim]:
    """All claims of the page."""
    one, two, three = (results["models"][f"model {k}"] for k in (1, 2, 3))
    return [
        _two_regimes(one),
        *_distance_and_colour(two),
        _low_entropy(three),
        _maximal_entropy(three, two),
        _factor_of_two(results["with_unaries"]),
        _smaller_unaries(results["with_unaries"]),
        _bound(results["graphs"]),
    ]


def _two_regimes(model: Row) -> Claim:
    temperature = model["melts_at"]["mean"]
    deviation = abs(temperature / T_C - 1)
    return Claim(
        f"model 1: two regimes before and after T_c = Γ/2 = {T_C:g}",
        f"transition at T = {temperature:.2f} ({100 * deviation:.1f} % off)",
        confirmed(deviation < TOLERANCE),
    )


def _distance_and_colour(model: Row) -> list[Claim]:
    mean, first, last = (model["melts_at"][key] for key in ("mean", "highest_decile", "lowest_decile"))
    return [
        Claim(
            "model 2: the prediction remains completely valid",
            f"transition of the most certain tenth at T = {last:.2f}, on average at {mean:.2f}",
            confirmed(abs(last / T_C - 1) < TOLERANCE),
        ),
        Claim(
            "model 2: the 10 % with the highest entropy transition slightly earlier",
            f"at T = {first:.2f}, {last - first:.2f} before the most certain tenth",
            confirmed(first < last),
        ),
    ]


def _low_entropy(model: Row) -> Claim:
    index = int(np.argmax(np.array(model["temperature"]) >= 6.0))
    return Claim(
        "model 3: minimal and average entropy remain low above T = 5",
        f"at T = 6: lowest tenth {model['lowest_decile'][index]:.2f}, mean {model['mean'][index]:.2f} bits",
        confirmed(model["mean"][index] < 0.7),
    )


def _maximal_entropy(model: Row, other: Row) -> Claim:
    highest, compared = (
        ", ".join(f"{row['highest_decile'][row['temperature'].index(t)]:.2f}" for t in (4, 5, 6))
        for row in (model, other)
    )
    index = model["temperature"].index(6)
    return Claim(
        "model 3: the maximal entropy behaves as in model 2",
        f"highest tenth at T = 4, 5, 6: {highest} bits; model 2: {compared}",
        confirmed(model["highest_decile"][index] > HIGH_ENTROPY),
    )


def _factor_of_two(rows: list[Row]) -> Claim:
    printed, halved = (
        max(abs(row["measured"] - row[key]) for row in rows) for key in ("predicted_as_printed", "predicted")
    )
    return Claim(
        "fixed point q~ = 1/2 tanh((q~ Γ - U) / T)",
        f"as printed, the splitting temperature is wrong by up to {printed:.2f}; with U/2 by {halved:.3f}",
        "not confirmed: U/2",
    )


def _smaller_unaries(rows: list[Row]) -> Claim:
    measured, unaries = (
        ", ".join(format(row[key], style) for row in rows) for key, style in (("measured", ".2f"), ("unary", "g"))
    )
    return Claim(
        "the smaller the unaries, the lower the critical temperature",
        f"measured {measured} for U = {unaries}",
        "not confirmed: the larger",
    )


def _bound(graphs: list[Row]) -> Claim:
    predicted, split, without = (
        np.concatenate([graph[key] for graph in graphs]) for key in ("predicted", "split", "split_without_fields")
    )
    count, ratios = int((split <= predicted).sum()), without / predicted
    return Claim(
        "not in the paper: T_max = λ/2 bounds where the mean field of any graph splits",
        f"holds in {count} of {len(split)} random graphs; without fields they split at {ratios.min():.3f} to "
        f"{ratios.max():.3f} of it",
        verdict(count, len(split)),
    )
