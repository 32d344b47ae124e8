"""How likely flips are right, from what they cost and from tracks: the weights of `mixfield.apps.people_list`.

    python -m experiments.people.flip_odds

Multinomial logistic regression on the frames of CVLab1 that are not kept aside, with and without tracks, at both
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.optimize import minimize

from experiments.commands import options
from experiments.people.frames import occupancy_mean_field
from experiments.people.measure import KEPT, fitted_views, tracks_around
from experiments.people.moda import Floats
from experiments.people.wildtrack import FRAMES, Wildtrack
from experiments.quiet import ignore_warnings
from mixfield import metrics
from mixfield.apps.people_list import SHARP, Flip, frame_flips
from mixfield.criteria.field_ranked import FieldRanked
from mixfield.energy import Occupancy
from mixfield.energy.occupancy import MISMATCH
from mixfield.mixture import MixturePosterior
from mixfield.mixture.tree import start_tree
from mixfield.scene import Scene

RADIUS = 1.0  # metres
RIDGE = 3e-4


def fit(flips: list[tuple[Flip, int]]) -> Floats:
    """(5, 2) weights of the features in the log-odds of "right" and "wrong", from flips and changes of mistakes."""
    features = np.array([flip.features for flip, _ in flips])
    outcome = np.array([np.sign(change) + 1 for _, change in flips], int)

    def loss(parameters: Floats) -> tuple[float, Floats]:
        weights = parameters.reshape(-1, 2)
        logits = np.insert(features @ weights, 1, 0.0, axis=1)
        logits -= logits.max(1, keepdims=True)
        p = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
        value = -np.log(p[np.arange(len(p)), outcome]).mean() + RIDGE * (weights**2).sum()
        p[np.arange(len(p)), outcome] -= 1.0
        return value, (features.T @ p[:, [0, 2]] / len(p) + 2 * RIDGE * weights).ravel()

    return np.asarray(minimize(loss, np.zeros(10), jac=True, method="L-BFGS-B").x).reshape(-1, 2)


def outcomes(scene: Scene, masks: Any, truth: Floats, tracks: Floats) -> Iterator[tuple[Flip, int]]:
    """The flips of a frame, without and with tracks, and by how many each changes the number of mistakes."""
    energy, criterion = Occupancy(scene, masks), FieldRanked.for_scene(scene, count_first=True)
    with ignore_warnings():
        leaf = start_tree(energy, criterion=criterion).nodes[0].leaf
    for expected in (None, tracks):
        flips = frame_flips(leaf, criterion, scene, expected)
        if flips:
            occupied = np.array([flip.occupied for flip in flips])
            q = criterion.try_flips(leaf, [flip.group for flip in flips], occupied)
            before = _mistakes(scene, leaf.q, truth)
            yield from ((flip, _mistakes(scene, one, truth) - before) for flip, one in zip(flips, q, strict=True))


def _mistakes(scene: Scene, q: Floats, truth: Floats) -> int:
    found = scene.ground.centres().reshape(-1, 2)[(q[:, 1] > 0.5) & scene.interest.ravel()]
    score = metrics.detection_scores({0: truth}, {0: found}, RADIUS)[0]
    return score.misses + score.false_positives


def main() -> None:
    """Print the weights."""
    recording = Wildtrack(
        options.data_folder(None) / "people" / "wildtrack", ("CVLab1",), noisy=True, region=("CVLab1",), pixel=1
    )
    masks, truth = {frame: recording.masks(frame) for frame in FRAMES}, recording.truth(FRAMES)
    fitted = fitted_views(recording, masks)
    tables = []
    for sigma in (MISMATCH, SHARP):
        scene = replace(fitted, variance=(sigma,))
        fields = [MixturePosterior((occupancy_mean_field(scene, masks[frame]),)) for frame in FRAMES]
        tracks = tracks_around(scene, fields, scene.prior)
        chosen = [frame for frame in FRAMES if not KEPT["WILDTRACK"](frame)]
        found = [one for f in chosen for one in outcomes(scene, masks[f], truth[f], tracks[f])]
        tables.append([fit([one for one in found if one[0].occupied == kind]) for kind in (False, True)])
    print(np.array2string(np.array(tables), precision=2, suppress_small=True, separator=", "))


if __name__ == "__main__":
    main()
