"""Which alternatives to offer: a short list from which a person takes the best.

Labelings are hypotheses of the truth with weights w_h.  A list S is worth what the best of it is expected to reach,
``sum_h w_h max(IoU(s, h) for s in S)``.  This is submodular: taking one after the other, always the one that adds most,
reaches at least 63 % of what the best list reaches.  What all of them add together says how doubtful an image is, and
so how long its list is.

The weight of an offered labeling is the total weight of the hypotheses to which it is nearest: the probability that it
is the best of the list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mixfield.mixture.calibration import Calibration
from mixfield.mixture.posterior import MixturePosterior

Floats = NDArray[np.float64]

DISTINCT = 0.02  # share of pixels by which an alternative must differ from all others
FEW = 3  # labelings that are offered of an image with little doubt


@dataclass(frozen=True, eq=False)
class Comparison:
    """How much K labelings differ from each other.

    Attributes
    ----------
    apart : (K, K) shares of the pixels on which two of them differ.
    ious : (K, K) mean IoUs over the labels that one of the two has.
    """

    apart: Floats
    ious: Floats

    @staticmethod
    def of(labelings: NDArray[np.integer]) -> Comparison:
        """The comparison of labelings (K, *shape)."""
        count = len(labelings)
        parts, pixels = _equal_pixels(labelings.reshape(count, -1))
        same, ratios, seen = (np.zeros((count, count)) for _ in range(3))
        for label in np.unique(parts):
            has = (parts == label).astype(np.float64)
            common, areas = (has * pixels) @ has.T, has @ pixels
            either = areas[:, None] + areas - common
            same += common
            ratios += common / np.maximum(either, 1)
            seen += either > 0
        return Comparison(1.0 - same / pixels.sum(), ratios / seen)

    def order(self, weights: Floats, root: int, allowed: NDArray[np.bool_]) -> tuple[list[int], Floats]:
        """The root labeling and those worth a slot, the one that adds most first, and what each one adds.

        Parameters
        ----------
        weights : (K,) of the labelings as hypotheses.
        root : the labeling that comes first.
        allowed : (K,) which of them may be offered; others are no hypotheses either.
        """
        weights = np.where(allowed, weights, 0.0)
        weights = weights / weights.sum()
        chosen, added, best = [root], [float("inf")], self.ious[root]
        while (free := allowed & (self.apart[:, chosen] >= DISTINCT).all(1)).any():
            gains = np.where(free, np.maximum(self.ious - best, 0.0) @ weights, -1.0)
            chosen.append(int(gains.argmax()))
            added.append(float(gains.max()))
            best = np.maximum(best, self.ious[chosen[-1]])
        return chosen, np.array(added)

    def best_of_list(self, weights: Floats, offered: list[int]) -> Floats:
        """(n,) probabilities that each of the offered labelings is the best of them.

        Parameters
        ----------
        weights : (K,) of the labelings as hypotheses.
        offered : numbers of n of them; where two are equally near to a hypothesis, the first counts as the best.
        """
        nearest = self.ious[offered].argmax(0)
        total = np.bincount(nearest, weights, minlength=len(offered))
        return total / total.sum()  # in this order of summation the weight of a single labeling is exactly 1


def list_length(gains: Floats, least: float) -> int:
    """How many labelings to offer, by what the alternatives promise to add together.

    Parameters
    ----------
    gains : of the labelings in their order; that of the first one does not count.
    least : all are offered if they promise as much, at most `FEW` if they promise less, and the first one alone if they
        promise less than an eighth of it.
    """
    promised = float(gains[1:].sum())
    if promised >= least:
        return len(gains)
    return min(FEW, len(gains)) if promised >= least / 8 else 1


def offered_posterior(
    posterior: MixturePosterior, kept: Sequence[int], calibration: Calibration, n_modes: int | None
) -> MixturePosterior:
    """Some of the modes in another order, with their calibration; leaves of modes that are left out have mode -1.

    Parameters
    ----------
    posterior : of all modes.
    kept : numbers of the modes that are offered, in their order.
    calibration : of these.
    n_modes : how many there might have been; a note says why others are missing.
    """
    place = {old: new for new, old in enumerate(kept)}
    tree = tuple(replace(node, mode=place.get(node.mode, -1)) for node in posterior.tree)
    modes = tuple(posterior.modes[k] for k in kept)
    notes = (*posterior.notes, *_note(len(posterior.modes), len(kept), n_modes, calibration))
    return replace(posterior, modes=modes, tree=tree, notes=notes, calibration=calibration)


def _note(found: int, kept: int, n_modes: int | None, calibration: Calibration) -> tuple[str, ...]:
    """Why modes are missing."""
    if calibration.without_doubt:
        return ("no doubt: no alternative is probable and different enough to be offered",)
    if found == kept:
        return ()
    if kept == n_modes:
        return (f"offered the {n_modes} most useful of {found} segmentations",)
    return (f"left out {found - kept} of {found} segmentations: improbable, too similar, or with straight edges",)


def _equal_pixels(labelings: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Labels (K, m) and numbers (m,) of the groups of pixels that are the same in all labelings (K, n)."""
    groups = np.zeros(labelings.shape[1], np.int64)
    for labels in labelings:
        keys = groups * (int(labels.max()) + 1) + labels
        occurs = np.bincount(keys) > 0
        groups = (np.cumsum(occurs) - 1)[keys]  # numbered from 0 without gaps
    some = np.empty(int(groups.max()) + 1, np.int64)
    some[groups] = np.arange(len(groups))  # a pixel of each group
    return np.asarray(labelings[:, some], np.int64), np.bincount(groups)
