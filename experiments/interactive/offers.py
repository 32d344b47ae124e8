"""Rows of the page on what alternatives and questions are worth, and on how far their probabilities can be believed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments import bootstrap
from experiments.interactive.person import (
    CLICKS,
    CONTROL,
    OFFERS,
    REFINED_CONTROL,
    SECONDS,
    WANTED,
    actions_to_wanted,
    seconds_to_wanted,
)
from experiments.measurements import Row
from mixfield.interactive.candidate_weights import OF_STROKES
from mixfield.metrics.calibration import calibration_error

Floats = NDArray[np.float64]

EXPONENTS = tuple(np.arange(0.2, 1.3, 0.1).round(1).tolist())  # of weights, that are compared
BINS = 5  # of equal count, for the calibration error
OTHER_SECONDS = {  # what a person's actions may cost instead
    "choice 0.6, yes/no 0.45": {"click": 1.0, "choice": 0.6, "answer": 0.45},
    "choice and yes/no as a click": {"click": 1.0, "choice": 1.0, "answer": 1.0},
    "a look at the offers 0.2 with every action": {"click": 1.2, "choice": 0.6, "answer": 0.5},
}
PERSON_HEADS = ("seconds of a person", CLICKS, OFFERS, "ratio")
OBJECT_WAYS = (CONTROL, REFINED_CONTROL, OFFERS)
OBJECT_HEADS = ("network", *OBJECT_WAYS)
CEILING_HEADS = ("network", "uniform superpixels", "refined superpixels", "ideal clicks")
KEPT_HEADS = ("network", CONTROL, OFFERS, "mixture / control", "where the control completes")
OBJECT_RATIO_HEADS = (
    "network",
    "refined control / control",
    "mixture / control",
    "mixture / refined control",
    "mixture / control, where the control completes",
)
BELIEF_HEADS = (
    "probabilities of the alternatives",
    "answers",
    "first is the best",
    "its mean probability",
    "calibration error",
    "log-score above uniform",
)


def ratio(ours: Sequence[float], control: Sequence[float]) -> str:
    """Ratio of two means over the same images with a 95 % bootstrap interval."""

    def of(pairs: Floats) -> float:
        return float(pairs[:, 0].mean() / pairs[:, 1].mean())

    both = np.stack([ours, control], axis=1).astype(np.float64)
    low, high = bootstrap.interval(both, of)
    return f"{of(both):.2f} [{low:.2f}, {high:.2f}]"


def person_rows(rows: Sequence[Row], annotator: str) -> list[tuple[str, ...]]:
    """Seconds to the wanted IoU by what actions cost."""
    costs = {"click 1, choice 0.4, yes/no 0.3": SECONDS, **OTHER_SECONDS}
    return [(name, *_seconds(rows, annotator, seconds)) for name, seconds in costs.items()]


def _seconds(rows: Sequence[Row], annotator: str, seconds: dict[str, float]) -> list[str]:
    clicks = _each(rows, CLICKS, annotator, lambda states: seconds_to_wanted(states, SECONDS))
    offers = _each(rows, OFFERS, annotator, lambda states: seconds_to_wanted(states, seconds))
    return [f"{np.mean(clicks):.2f}", f"{np.mean(offers):.2f}", ratio(offers, clicks)]


def _each(rows: Sequence[Row], way: str, annotator: str, of: Callable[[Any], float]) -> list[float]:
    """A number of each photograph, in the order of their names."""
    found = {row["photo"]: of(row["states"]) for row in rows if (row["way"], row["annotator"]) == (way, annotator)}
    return [found[name] for name in sorted(found)]


def object_rows(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """Mean actions to the wanted IoU of each way, with the number of objects that never reach it, for each network."""
    return [(network, *(_mean_actions(part, way) for way in OBJECT_WAYS)) for network, part in by_network(rows).items()]


def kept_rows(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """The same of the control and of the mixture, and their ratios, all and where the control reaches it."""
    return [
        (
            network,
            *(_mean_actions(part, way) for way in (CONTROL, OFFERS)),
            *(ratio(_actions(some, OFFERS), _actions(some, CONTROL)) for some in (part, _completed(part))),
        )
        for network, part in by_network(rows).items()
    ]


def object_ratio_rows(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """Ratios of these means, for each network; the last one over the objects that the control completes."""
    pairs = [*((way, CONTROL) for way in OBJECT_WAYS[1:]), (OFFERS, REFINED_CONTROL)]
    return [
        (
            network,
            *(ratio(_actions(part, ours), _actions(part, control)) for ours, control in pairs),
            ratio(*(_actions(_completed(part), way) for way in (OFFERS, CONTROL))),
        )
        for network, part in by_network(rows).items()
    ]


def _completed(rows: Sequence[Row]) -> list[Row]:
    """Those of the objects on which the control reaches the wanted IoU."""
    names = {row["photo"] for row in rows if row["way"] == CONTROL and row["states"][-1]["iou"] >= WANTED}
    return [row for row in rows if row["photo"] in names]


def ceiling_rows(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """Means of ideal clicks, and numbers of objects that superpixels can represent, for each network."""
    return [
        (
            network,
            *(f"{sum(row[kind] >= WANTED for row in part)} of {len(part)}" for kind in ("uniform", "refined")),
            f"{np.mean([row['ideal'] for row in part]):.2f}",
        )
        for network, part in by_network(rows).items()
    ]


def by_network(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """The measurements with the scores of each network."""
    return {name: [row for row in rows if row["network"] == name] for name in dict.fromkeys(r["network"] for r in rows)}


def _actions(rows: Sequence[Row], way: str) -> list[float]:
    """Actions to the wanted IoU on each object."""
    return _each(rows, way, "perfect", lambda states: len(actions_to_wanted(states)))


def _mean_actions(rows: Sequence[Row], way: str) -> str:
    return f"{np.mean(_actions(rows, way)):.2f} ({_unreached(rows, way)})"


def _unreached(rows: Sequence[Row], way: str) -> int:
    return int(sum(_each(rows, way, "perfect", lambda states: states[-1]["iou"] < WANTED)))


def action_shares(rows: Sequence[Row]) -> str:
    """How often each action was taken, in words."""
    done = [did for row in rows if row["way"] == OFFERS for did in actions_to_wanted(row["states"])]
    names = {"click": "clicks", "choice": "choices", "answer": "answers"}
    return ", ".join(f"{done.count(kind)} {name}" for kind, name in names.items())


def belief_row(title: str, states: Sequence[Row]) -> tuple[str, ...]:
    """How far the weights of alternatives with known IoU can be believed; a state has ``ious`` and ``weights``."""
    several = [state for state in states if len(state.get("ious", ())) > 1]
    first = np.array([state["weights"][0] for state in several])
    right = np.array([float(np.argmax(state["ious"]) == 0) for state in several])
    scores = [log_score(state) for state in several]
    low, high = bootstrap.interval(scores)
    return (
        title,
        str(len(several)),
        f"{right.mean():.2f}",
        f"{first.mean():.2f}",
        f"{calibration_error(first, right, BINS):.3f}",
        f"{np.mean(scores):+.2f} [{low:+.2f}, {high:+.2f}]",
    )


def log_score(state: Row, power: float = 1.0) -> float:
    """Log weight of the best alternative above that of equal weights, with a power of the weights."""
    weights = np.array(state["weights"]) ** power
    return float(np.log(weights[int(np.argmax(state["ious"]))] / weights.mean()))


def left_out_score(states: dict[str, list[Row]]) -> tuple[float, list[float]]:
    """Mean log-score if the exponent is chosen without the photograph of a state, and the exponents."""
    scores, chosen = [], []
    for name, own in states.items():
        others = [state for other, found in states.items() if other != name for state in found]
        chosen.append(max(EXPONENTS, key=lambda exponent: sum(_of_strokes(state, exponent) for state in others)))
        scores += [_of_strokes(state, chosen[-1]) for state in own]
    return float(np.mean(scores)), chosen


def _of_strokes(state: Row, exponent: float) -> float:
    return log_score(state, exponent / OF_STROKES.spread)
