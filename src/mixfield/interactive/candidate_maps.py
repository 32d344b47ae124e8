"""Label maps of candidates on the canvas, and how far they agree."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import label

from mixfield.interactive.annotation_actions import Labels, label_type
from mixfield.interactive.corrections import EIGHT
from mixfield.interactive.region_candidates import Candidate, LastAction, relabelled
from mixfield.interactive.region_field import RegionField
from mixfield.interactive.representatives import mean_ious

Floats = NDArray[np.float64]


def candidate_maps(field: RegionField, found: Sequence[Candidate], last: LastAction | None) -> Labels:
    """(K, h, w) labels of the pixels; with scores, candidates that keep what was shown keep it pixel by pixel."""
    names = field.active.astype(label_type(field.n_labels))
    maps = names[np.stack([one.labels for one in found])][:, field.graph.regions]
    if last is not None and field.has_scores:
        for k, one in enumerate(found):
            maps[k] = kept_labels(one, last, maps[k])
    return np.asarray(maps)


def kept_labels(one: Candidate, last: LastAction, labels: Labels) -> Labels:
    """(h, w) labels of a candidate, with those that were shown where it keeps them."""
    if one.exact is not None:
        return one.exact.astype(labels.dtype)
    return corrected(last, labels) if one.kept else labels


def corrected(last: LastAction, labels: Labels) -> Labels:
    """(h, w) what was shown, with the last action and the changes in ``labels`` that are connected with it."""
    parts, count = label(((labels != last.shown) & (labels == last.label)) | last.place, EIGHT)
    touched = np.zeros(count + 1, bool)
    touched[parts[last.place]] = True
    return relabelled(last, touched[parts])


def map_ious(maps: Labels) -> Floats:
    """(K, K) IoU of each two maps (K, h, w), see `mean_ious`."""
    flat = maps.reshape(len(maps), -1)
    differ = (flat != flat[0]).any(0)
    names, counts = np.unique(flat[0, ~differ], return_counts=True)
    labels = np.concatenate([flat[:, differ], np.tile(names, (len(maps), 1))], axis=1)
    return mean_ious(labels, np.concatenate([np.ones(int(differ.sum())), counts]))
