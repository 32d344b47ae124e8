"""The rows of the page on belief, from the measurements of single images."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from experiments import bootstrap
from experiments.belief.diverse import best_strength
from experiments.belief.folds import COUNTS
from experiments.measurements import Row
from mixfield.metrics.calibration import calibration_error
from mixfield.metrics.segmentation import iou

Floats = NDArray[np.float64]

BINS = 10  # of equal count, for the calibration error
GAIN = 0.5  # points of IoU below which an alternative gains nothing
SMALLEST_SET = 10  # images of a set that is judged by itself


def interval(values: Sequence[float] | Floats) -> str:
    """The mean with a 95 % bootstrap interval."""
    low, high = bootstrap.interval(values)
    return f"{np.mean(values):+.2f} [{low:+.2f}, {high:+.2f}]"


def table(rows: Sequence[Row]) -> list[tuple[str, str, str]]:
    """Quantity, control or former version, and the model of the rows, for the images of one network."""
    return [*_losses(rows), *_single_answer(rows), *_answers(rows), *_order(rows), *_offered(rows)]


def ratio(rows: Sequence[Row], name: str, against: str) -> str:
    """Ratio of two mean losses with a 95 % bootstrap interval."""
    both = np.array([[row["losses"][name], row["losses"][against]] for row in rows])
    low, high = bootstrap.interval(both, lambda rows: rows[:, 0].mean() / rows[:, 1].mean())
    mean = both.mean(0)
    return f"{mean[0] / mean[1]:.3f} [{low:.3f}, {high:.3f}]"


def _losses(rows: Sequence[Row]) -> list[tuple[str, str, str]]:
    former = "deeplab kernels, paper's weights"
    return [
        (f"loss of pixels relative to {name}", ratio(rows, former, name), ratio(rows, "model", name))
        for name in ("softmax", "softmax at its best temperature")
    ]


def _single_answer(rows: Sequence[Row]) -> list[tuple[str, str, str]]:
    found = []
    for subset in ("all", *sorted({row["set"] for row in rows})):
        part = [row for row in rows if subset in ("all", row["set"])]
        if len(part) < SMALLEST_SET:
            continue
        for name, of in (("mean IoU", _mean_gain), ("pooled mIoU", _pooled_gain)):
            title = f"{name} of the first answer above the scores, {subset} ({len(part)})"
            found.append((title, of(part, "deeplab"), of(part, "first")))
    settled = [row["settled_iou"] - row["ious"][0] for row in rows]
    found.append(("mean IoU with all settled changes above the first answer", "0", interval(settled)))
    both = [[row[key] - row["scores_iou"] for row in rows] for key in ("balanced_scores_iou", "settled_iou")]
    title = "mean IoU with all settled changes above the scores (control: the same rule for the scores alone)"
    found.append((title, interval(both[0]), interval(both[1])))
    return found


def _mean_gain(rows: Sequence[Row], which: str) -> str:
    return interval([(row["ious"][0] if which == "first" else row["deeplab_iou"]) - row["scores_iou"] for row in rows])


def _pooled_gain(rows: Sequence[Row], which: str) -> str:
    ours, scores = (float(np.nanmean(iou(_pooled_counts(rows, name)))) for name in (which, "scores"))
    return f"{100 * (ours - scores):+.2f}"


def _pooled_counts(rows: Sequence[Row], name: str) -> Floats:
    """(L, L) pixels of all images by true and predicted label."""
    entries = np.array([entry for row in rows for entry in row["confusions"][name]])
    n_labels = int(entries[:, :2].max()) + 1
    counts = np.zeros((n_labels, n_labels))
    np.add.at(counts, (entries[:, 0], entries[:, 1]), entries[:, 2])
    return counts


def _answers(rows: Sequence[Row]) -> list[tuple[str, str, str]]:
    pairs = np.array([pair for row in rows for pair in row["answers"]], np.float64).reshape(-1, 2)
    p, right = pairs.T
    former = [row["deeplab_log_weights"][int(np.argmax(row["deeplab_by_weight"]))] for row in rows]
    uniform = [-np.log(len(row["deeplab_by_weight"])) for row in rows]
    control = interval(np.subtract(former, uniform))
    scored = [
        (f"log-score of the best mode above uniform{title}", control, interval([row[key] for row in rows]))
        for title, key in (("", "log_score"), (", eight modes without an end of the list", "log_score_of_eight"))
    ]
    return [*(_calibration(p, right) if len(p) else []), *scored]


def _calibration(p: Floats, right: Floats) -> list[tuple[str, str, str]]:
    rate = float(right.mean())
    return [
        (
            f"answers: calibration error, {BINS} bins",
            "-",
            f"{calibration_error(p, right, BINS):.3f} ({len(p)} answers)",
        ),
        ("answers: area under the ROC curve", "0.5", f"{area_under_curve(p, right):.3f}"),
        ("answers: Brier score", f"{rate * (1 - rate):.3f} (base rate {rate:.2f})", f"{((p - right) ** 2).mean():.3f}"),
    ]


def area_under_curve(p: Floats, right: Floats) -> float:
    """Probability that a right answer has a higher probability than a wrong one; ties count half."""
    yes, no = p[right > 0][:, None], p[right == 0][None]
    if yes.size == 0 or no.size == 0:
        return float("nan")
    return float((yes > no).mean() + 0.5 * (yes == no).mean())


def _order(rows: Sequence[Row]) -> list[tuple[str, str, str]]:
    def best(key: str, count: int) -> str:
        return interval([max(row["deeplab_iou"], *row[key][:count]) - row["deeplab_iou"] for row in rows])

    def offered(count: int) -> str:
        return interval([max(row["ious"][:count]) - row["deeplab_iou"] for row in rows])

    return [
        (f"best of the first {count} above mean field of deeplab", best("deeplab_by_weight", count), offered(count))
        for count in COUNTS
    ]


def above_diverse(rows: Sequence[Row], diverse: Sequence[Row]) -> list[tuple[str, str, str]]:
    """The best of eight against that of DivMBest with its best strength, on the images that have both.

    DivMBest has eight solutions of every image, so the list is compared as it is offered and without its end.
    """
    strength = best_strength(diverse)
    rivals = {(row["set"], row["image"]): max(row["ious"][strength]) for row in diverse}
    both = [(row, rivals[key]) for row in rows if (key := (row["set"], row["image"])) in rivals]
    former = interval([max(row["deeplab_iou"], *row["deeplab_by_weight"]) - rival for row, rival in both])
    title = f"above that of DivMBest {strength}, its best strength ({len(both)} images)"
    return [
        (f"{name} {title}", former, interval([max(row[key]) - rival for row, rival in both]))
        for name, key in (("best of the first 8", "ious"), ("best of 8 without an end of the list", "eight_ious"))
    ]


def _offered(rows: Sequence[Row]) -> list[tuple[str, str, str]]:
    quiet = [row for row in rows if max(row["all_ious"]) - row["ious"][0] < GAIN]
    kept = sum(max(row["ious"]) - row["ious"][0] for row in rows)
    room = {key: sum(max(row[key]) - row["ious"][0] for row in rows) for key in ("eight_ious", "all_ious")}
    shares = [f"{kept / some:.2f}" if some else "-" for some in room.values()]
    close, pairs = np.sum([row["close_pairs"] for row in rows], 0)
    drawn, straight = (_share_of([one for row in rows for one in row[key]]) for key in ("straight_truth", "straight"))
    modes = f"{np.median([row['n_modes'] for row in quiet]):g} ({len(quiet)} images)" if quiet else "-"
    return [
        (f"median number of modes where none gains {GAIN}", "8", modes),
        ("share of the gain of the best of eight that is kept", "1", shares[0]),
        ("share of the gain of the best of all that were found", "-", shares[1]),
        ("alternatives with straight edges (control: annotated objects)", drawn, straight),
        ("pairs that differ on less than 2 %", "-", f"{100 * close / max(pairs, 1):.1f} %"),
    ]


def _share_of(which: Sequence[bool]) -> str:
    return f"{100 * sum(which) / max(len(which), 1):.1f} % of {len(which)}"
