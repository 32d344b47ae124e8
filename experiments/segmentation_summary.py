"""Numbers of the page on still images: gains over mean field, and what somebody without an oracle gets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

from experiments.measured import Row
from mixfield.apps.ranking import LEARNT, fit_ranking

Floats = NDArray[np.float64]

COUNTS = (1, 2, 4, 8, 16, 32)
WORTH = 0.02  # gain of mean IoU over mean field that somebody would want to have
FAMILIES = ("DivMBest", "noise")  # methods with a strength
FOLDS = 5
FEWEST = 5  # images that a table must have
COVERED = 0.5  # share of our images that DivMBest or noise of some strength must have done to be compared


def gains(rows: Sequence[Row]) -> dict[str, dict[str, Floats]]:
    """(images, counts) points of mean IoU gained by the best of K, by network and method, on the images of `shared`.

    The counts are those of `COUNTS` for which every image has enough segmentations of that method.
    """
    return {
        net: {name: np.array([[gain(row, count) for count in _counts(one)] for row in one]) for name, one in table}
        for net, table in ((net, methods.items()) for net, methods in shared(rows).items())
    }


def leads(ours: Sequence[Row], others: Sequence[Row]) -> Floats:
    """(images, counts) points by which our best of K is ahead of another method's, on the images that it has done."""
    counts = [count for count in _counts(others) if count in _counts(ours)]
    return np.array(
        [[gain(mine, count) - gain(other, count) for count in counts] for mine, other in pairs(ours, others)]
    )


def pairs(ours: Sequence[Row], others: Sequence[Row]) -> list[tuple[Row, Row]]:
    """Our row and that of another method, for each image of the latter."""
    mine = {(row["set"], row["image"]): row for row in ours}
    return [(mine[row["set"], row["image"]], row) for row in others]


def gain(row: Row, count: int) -> float:
    """Points of mean IoU that the best of the first segmentations has over mean field."""
    return 100 * (max([row["mean_field"], *row["ious"][:count]]) - row["mean_field"])


def _counts(rows: Sequence[Row]) -> list[int]:
    return [count for count in COUNTS if count <= min(row["wanted"] for row in rows)]


def at_equal_calls(rows: Sequence[Row], count: int) -> dict[str, dict[str, Floats]]:
    """(images, 3): our gain with ``count`` modes, another method's for as many filterings, and how many it had then.

    Only methods that have twice as many segmentations to show.
    """
    found: dict[str, dict[str, Floats]] = {}
    for net, methods in shared(rows).items():
        found[net] = {}
        for name, others in methods.items():
            if name == "ours" or _counts(others)[-1] < 2 * count:
                continue
            table = []
            for mine, other in pairs(methods["ours"], others):
                afforded = int(np.searchsorted(other["spent"], mine["spent"][:count][-1], side="right"))
                table.append([gain(mine, count), gain(other, afforded), float(afforded)])
            found[net][name] = np.array(table)
    return found


def shared(rows: Sequence[Row]) -> dict[str, dict[str, list[Row]]]:
    """Rows by network and method, of the images on which our modes and the rivals that were tried on most are done.

    Other methods may have done only some of them.
    """
    table: dict[str, dict[str, list[Row]]] = {}
    for net in dict.fromkeys(row["net"] for row in rows):
        found: dict[str, dict[tuple[str, str], Row]] = {}
        for row in rows:
            if row["net"] == net:
                found.setdefault(row["method"], {})[row["set"], row["image"]] = row
        enough = COVERED * len(found.get("ours", ()))
        rivals = [name for name, one in found.items() if name.startswith(FAMILIES) and len(one) >= enough]
        images = sorted(set.intersection(*(set(found.get(name, ())) for name in ("ours", *rivals))))
        some = {name: [one[image] for image in images if image in one] for name, one in found.items()}
        table[net] = {
            name: one
            for name, one in some.items()
            if name in rivals or (not name.startswith(FAMILIES) and len(one) >= FEWEST)
        }
    return {net: methods for net, methods in table.items() if _says_something(methods)}


def _says_something(methods: dict[str, list[Row]]) -> bool:
    """Whether our modes and both families were tried on enough images."""
    rivals = all(any(name.startswith(family) for name in methods) for family in FAMILIES)
    return rivals and len(methods.get("ours", ())) >= FEWEST


def tuned(table: dict[str, Floats], family: str) -> str:
    """The member of a family, such as DivMBest of some strength, that gains most on average."""
    members = [name for name in table if name.startswith(family)]
    last = min(table[name].shape[1] for name in members) - 1
    return max(members, key=lambda name: float(table[name][:, last].mean()))


def interval(differences: Floats, draws: int = 2000) -> tuple[float, float]:
    """95 % interval of a mean by resampling images."""
    chosen = np.random.default_rng(0).integers(0, len(differences), (draws, len(differences)))
    low, high = np.quantile(differences[chosen].mean(1), [0.025, 0.975])
    return float(low), float(high)


def per_mode(rows: Sequence[Row]) -> float:
    """Filterings of one mode's labels, for each segmentation that came back."""
    return sum(row["spent"][-1] for row in rows) / sum(len(row["spent"]) for row in rows)


def ranking(rows: Sequence[Row]) -> tuple[tuple[float, ...], dict[str, Any]]:
    """Coefficients learnt on all images, and how rankings do on images left out."""
    mine = [row for row in rows if row["method"] == "ours" and len(row["by_weight"]) > 1]
    features = [np.array(row["features"]) for row in mine]
    qualities = [np.array(row["by_weight"]) for row in mine]
    bounds = [np.array(row["log_z"]) for row in mine]
    images = list(dict.fromkeys((row["set"], row["image"]) for row in mine))
    fold = np.array([images.index((row["set"], row["image"])) % FOLDS for row in mine])
    learnt: list[Floats] = [np.zeros(0)] * len(mine)
    cooled: list[Floats] = [np.zeros(0)] * len(mine)
    for k in range(FOLDS):
        inside = [i for i in range(len(mine)) if fold[i] != k]
        coefficients = np.array(fit_ranking([features[i] for i in inside], [qualities[i] for i in inside]))
        heat = _fitted_heat([bounds[i] for i in inside], [qualities[i] for i in inside])
        for i in np.flatnonzero(fold == k):
            learnt[i], cooled[i] = softmax(features[i] @ coefficients), softmax(bounds[i] / heat)
    raw = [softmax(one) for one in bounds]
    plain = [np.array([row["mean_field"]]) for row in mine]
    worth = [i for i, row in enumerate(mine) if qualities[i].max() > row["mean_field"] + WORTH]
    shipped = [softmax(one @ np.array(LEARNT)) for one in features]
    schemes = {"weights": raw, "tempered": cooled, "learnt": learnt, "shipped": shipped}
    chance = sum(1 / (len(qualities[i]) - 1) for i in worth)
    report: dict[str, Any] = {"images": len(mine), "worth": len(worth), "chance": round(chance, 1)}
    report["mean field"] = _without_modes(mine, plain)
    for name, shares in schemes.items():
        first = [int(np.argmax(share)) for share in shares]
        other = [int(np.argmax(np.where(one[:, 0] > 0, s, -1.0))) for one, s in zip(features, shares, strict=True)]
        report[name] = {
            "best first": sum(_is_best(qualities[i], first[i]) for i in worth),
            "best first of the others": sum(_is_best(qualities[i], other[i]) for i in worth),
            "mean IoU": 100 * float(np.mean([q[k] for q, k in zip(qualities, first, strict=True)])),
            **_probabilistic(mine, lambda i, shares=shares: shares[i]),  # type: ignore[misc]
        }
    return fit_ranking(features, qualities), report


def _is_best(qualities: Floats, chosen: int) -> bool:
    return bool(qualities[chosen] >= qualities.max() - 1e-9)


def _fitted_heat(bounds: Sequence[Floats], qualities: Sequence[Floats]) -> float:
    """The temperature under which the best mode of each image gets most probability."""

    def loss(log_heat: float) -> float:
        pairs = zip(bounds, qualities, strict=True)
        return -sum(float(log_softmax(bound / np.exp(log_heat))[np.argmax(q)]) for bound, q in pairs)

    return float(np.exp(minimize_scalar(loss, bounds=(0.0, 15.0), method="bounded").x))


def _without_modes(rows: Sequence[Row], plain: Sequence[Floats]) -> dict[str, float]:
    found = {"mean IoU": 100 * float(np.mean([one[0] for one in plain]))}
    return found | _probabilistic(rows, None)


def _probabilistic(rows: Sequence[Row], shares: Callable[[int], Floats] | None) -> dict[str, Any]:
    """Negative log-likelihood and Brier score of the true labels, and how often labels of a confidence are right."""
    nll, brier, confidence, right = [], [], [], []
    for i, row in enumerate(rows):
        q, true = np.array(row["likelihoods"]["q"]) / 1000.0, np.array(row["likelihoods"]["true"], int)
        if len(true) == 0:
            continue
        mixed = q[0] if shares is None else np.tensordot(shares(i), q[1:], 1)
        mixed = np.maximum(mixed, 5e-4)
        mixed /= mixed.sum(-1, keepdims=True)
        given = mixed[np.arange(len(true)), true]
        nll.append(-np.log(given).mean())
        brier.append((1 - 2 * given + (mixed**2).sum(-1)).mean())
        confidence.append(mixed.max(-1))
        right.append(mixed.argmax(-1) == true)
    sure, hit = np.concatenate(confidence), np.concatenate(right)
    edges = np.array([0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 1.01])
    bins = np.digitize(sure, edges) - 1
    curve = [
        [float(sure[bins == b].mean()), float(hit[bins == b].mean()), int((bins == b).sum())]
        for b in range(len(edges) - 1)
        if (bins == b).any()
    ]
    error = sum(abs(s - h) * n for s, h, n in curve) / len(sure)
    return {
        "nll": float(np.mean(nll)),
        "brier": float(np.mean(brier)),
        "right": 100 * float(hit.mean()),
        "curve": curve,
        "calibration error": error,
    }
