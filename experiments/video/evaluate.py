"""Mean IoU of every way to choose the modes of a sequence, and the share of the oracle's gain that it takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from experiments.measurements import Row
from experiments.video.fit import fit
from mixfield.apps import Consistency
from mixfield.metrics.segmentation import average
from mixfield.temporal.trellis import mode_probabilities, shortest_path

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

HARD = ("drift-straight", "motocross-jump")  # fast motion, an oracle gains most
METHODS = ("mean field", "by weight", "random", "temporal", "left out", "best mode")
RESAMPLES = 1000  # of the bootstrap
DRAWS = 100  # of random modes


@dataclass(frozen=True, eq=False)
class Video:
    """The modes of a sequence, and constants fitted on the others."""

    row: Row
    left_out: Consistency

    @property
    def name(self) -> str:
        return f"{self.row['field']} {self.row['sequence']}"

    @cached_property
    def paths(self) -> dict[str, list[int]]:
        """The modes that each method but chance chooses."""
        frames = self.row["frames"]
        return {
            "mean field": [frame["root"] for frame in frames],
            "by weight": [int(np.argmax(frame["weights"])) for frame in frames],
            "temporal": choose(self.row, Consistency()),
            "left out": choose(self.row, self.left_out),
            "best mode": [int(np.argmax([average(counts) for counts in frame["counts"]])) for frame in frames],
        }

    def counts(self, path: Sequence[int]) -> Ints:
        """(T, L, L) confusion counts of a choice."""
        return np.array([frame["counts"][k] for frame, k in zip(self.row["frames"], path, strict=True)])

    def mean_ious(self) -> dict[str, float]:
        """Mean IoU in per cent by method; pixels of all frames count together."""
        rng = np.random.default_rng(0)
        sizes = [len(frame["counts"]) for frame in self.row["frames"]]
        scores = {name: _mean_iou(self.counts(path)) for name, path in self.paths.items()}
        draws = [_mean_iou(self.counts(rng.integers(sizes).tolist())) for _ in range(DRAWS)]
        scores["random"] = float(np.mean(draws))
        return {name: scores[name] for name in METHODS}


def left_out(rows: Sequence[Row]) -> list[Video]:
    """Each sequence with constants fitted on the other sequences; the defaults if it is the only one."""
    names = dict.fromkeys(row["sequence"] for row in rows)
    others = {name: [row for row in rows if row["sequence"] != name] for name in names}
    fitted = {name: fit(some) if some else Consistency() for name, some in others.items()}
    return [Video(row, fitted[row["sequence"]]) for row in rows]


def choose(row: Row, consistency: Consistency, which: int = 0) -> list[int]:
    """The modes of a chain of frames of a sequence, the first of all frames, as `mixfield.segment_video` does."""
    return [int(mode) for mode in shortest_path(*_chain(row, consistency, which))]


def thinned(videos: Sequence[Video]) -> dict[str, list[float]]:
    """By field, the share of the oracle's gain and the worst gain where only every second or third frame is kept."""
    found = {}
    for field in dict.fromkeys(video.row["field"] for video in videos):
        gains, rooms = [], []
        for video in videos:
            for which, chain in enumerate(video.row["chains"] if video.row["field"] == field else []):
                if chain["spacing"] > 1:
                    kept = slice(chain["start"], None, chain["spacing"])
                    single, best = (video.counts(video.paths[name])[kept] for name in ("mean field", "best mode"))
                    path = choose(video.row, video.left_out, which)
                    chosen = [frame["counts"][k] for frame, k in zip(video.row["frames"][kept], path, strict=True)]
                    gains.append(_mean_iou(np.array(chosen)) - _mean_iou(single))
                    rooms.append(max(_mean_iou(best) - _mean_iou(single), 0.0))
        found[field] = [sum(gains) / max(sum(rooms), 1e-9), min(gains)]
    return found


def calibration(videos: Sequence[Video]) -> dict[str, float]:
    """Mean probability of the chosen modes where they are not mean field, and how often these are better than it."""
    stated, better = [], []
    for one in videos:
        path = one.paths["left out"]
        each = mode_probabilities(*_chain(one.row, one.left_out))
        for frame, mode, probability in zip(one.row["frames"], path, each, strict=True):
            if mode != frame["root"]:
                stated.append(probability[mode] / (probability[mode] + probability[frame["root"]]))
                better.append(frame["better"][mode])
    count = max(1, len(stated))
    return {"changes": len(stated), "stated": float(sum(stated) / count), "better": sum(better) / count}


def shares(videos: Sequence[Video], names: Sequence[str] = ()) -> dict[str, list[float]]:
    """Share of the oracle's gain that the choice takes, by field, with a 95 % interval over frames."""
    found = {}
    for field in dict.fromkeys(one.row["field"] for one in videos):
        some = [one for one in videos if one.row["field"] == field and (not names or one.row["sequence"] in names)]
        counts = [[one.counts(one.paths[name]) for name in ("mean field", "left out", "best mode")] for one in some]
        rng = np.random.default_rng(0)
        samples = [_share(counts, rng) for _ in range(RESAMPLES)]
        found[field] = [_share(counts, None), *np.percentile(samples, [2.5, 97.5]).tolist()]
    return found


def _share(counts: Sequence[Sequence[Ints]], rng: np.random.Generator | None) -> float:
    """Summed gain of the choice divided by that of the oracle, on all frames or on frames drawn again.

    Where the best modes of single frames lose over all pixels of a sequence, the oracle gains nothing.
    """
    gain = room = 0.0
    for single, choice, best in counts:
        which = np.arange(len(single)) if rng is None else rng.integers(len(single), size=len(single))
        base = _mean_iou(single[which])
        gain += _mean_iou(choice[which]) - base
        room += max(_mean_iou(best[which]) - base, 0.0)
    return gain / max(room, 1e-9)


def _chain(row: Row, consistency: Consistency, which: int = 0) -> tuple[list[Floats], list[Floats]]:
    """Costs of the modes of a sequence, and of the steps between them."""
    chain = row["chains"][which]
    costs = [
        consistency.mode_costs(np.array(frame["network"]), np.array(likeness), frame["root"])
        for frame, likeness in zip(row["frames"][chain["start"] :: chain["spacing"]], chain["likeness"], strict=True)
    ]
    return costs, [consistency.step_costs(np.array(gains)) for gains in chain["gains"]]


def _mean_iou(counts: Ints) -> float:
    return 100 * average(counts.sum(0))
