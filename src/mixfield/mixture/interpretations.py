"""Modes that are interpretations: cells whose labelings hardly differ are one mode.

Every cut raises the bound, but a cut that changes three variables of a large field does not separate two
interpretations.  Modes merged from cells leave the mixture as it is, see `mixfield.mixture.merging`.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield.mixture.merging import merged_mode
from mixfield.mixture.posterior import MixturePosterior

Ints = NDArray[np.int64]

SHARE = 0.02  # of the variables that have a choice, in which two interpretations differ at least


def fewest_changes(share: float, n_labels: Ints) -> int:
    """Number of variables in which the labels of two interpretations differ at least; 0 if every cell is one.

    Parameters
    ----------
    share : of the variables that can change, between 0 and 1.
    n_labels : (n,) how many labels each variable may take.
    """
    return math.ceil(share * int((n_labels > 1).sum()))


def group_cells(labelings: Ints, bounds: ArrayLike, fewest: int, most: int | None = None) -> list[list[int]]:
    """The cells of each interpretation, the heaviest cell of each first.

    A cell belongs to the nearest heavier interpretation if their labels differ in less than ``fewest`` variables, and
    begins an interpretation of its own otherwise.

    Parameters
    ----------
    labelings : (K, n) labels of each cell.
    bounds : (K,) A_k of each cell.
    fewest : see `fewest_changes`.
    most : interpretations after which every cell belongs to the nearest.
    """
    groups: list[list[int]] = []
    for k in np.argsort(-np.asarray(bounds), kind="stable").tolist():
        apart = (labelings[k] != labelings[[group[0] for group in groups]]).sum(1)
        if groups and (apart.min() < fewest or len(groups) == most):
            groups[int(np.argmin(apart))].append(k)
        else:
            groups.append([k])
    return groups


def with_interpretations(posterior: MixturePosterior, fewest: int, most: int) -> MixturePosterior:
    """The same mixture with up to ``most`` modes, whose labels differ in at least ``fewest`` variables."""
    bounds = [mode.log_z for mode in posterior.modes]
    if fewest == 0 and len(bounds) <= most:
        return posterior
    labelings = posterior.labelings().reshape(len(bounds), -1)
    groups = group_cells(labelings, bounds, fewest, most)
    if len(groups) == len(bounds):
        return posterior
    note = f"{len(groups)} modes instead of {most} differ in at least {fewest} variables; min_distance=0 gives more"
    notes = (*posterior.notes, note) if len(groups) < most else posterior.notes
    merged = [(merged_mode([posterior.modes[k] for k in group]), group) for group in groups]
    merged.sort(key=lambda pair: -pair[0].log_z)
    place = {k: rank for rank, (_, group) in enumerate(merged) for k in group}
    tree = tuple(replace(node, mode=place.get(node.mode, -1)) for node in posterior.tree)
    return replace(posterior, modes=tuple(mode for mode, _ in merged), tree=tree, notes=notes)
