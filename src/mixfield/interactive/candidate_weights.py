"""Probabilities of candidates: a conditional logistic model of where they come from and how they explain the clicks.

Its weights were fitted to objects of photographs that a simulated annotator corrected by clicks
(``python -m experiments interactive --fit``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from mixfield.interactive.annotation_actions import Labels
from mixfield.interactive.corrections import Correction, correction_features
from mixfield.interactive.region_candidates import Candidate, bounds
from mixfield.interactive.region_field import RegionField

Floats = NDArray[np.float64]

RECENT = 6  # corrections that count


@dataclass(frozen=True)
class CandidateWeights:
    """Weights of the features of a candidate.

    Attributes
    ----------
    bound : of the bound A_k of the field.
    resized, extended, kept : of its origin, see `mixfield.interactive.region_candidates.Candidate`.
    kept_later : of ``kept`` times the logarithm of the number of corrections.
    share, depth : of the features of corrections, see `mixfield.interactive.corrections`.
    """

    bound: float
    resized: float = 0.0
    extended: float = 0.0
    kept: float = 0.0
    kept_later: float = 0.0
    share: float = 0.0
    depth: float = 0.0


@dataclass(frozen=True)
class CandidateModel:
    """Probabilities of candidates, for the answer and for the alternatives.

    Attributes
    ----------
    weights : of the features.
    flatness : exponent of the probabilities when alternatives are chosen: what is unlikely may still be wanted.
    spread : exponent of the weights of the chosen ones, which would be too certain.
    """

    weights: CandidateWeights
    flatness: float
    spread: float


_BOUNDS = CandidateWeights(bound=1.0, resized=-2.0)
OF_STROKES = CandidateModel(_BOUNDS, 0.02, 0.6)  # where nothing was shown
OF_SCORES = CandidateModel(_BOUNDS, 0.02, 0.1)  # the same with the scores of a network
OF_CORRECTIONS = CandidateModel(CandidateWeights(0.0, -1.9, 0.6, -0.2, 1.2, 3.7, 2.4), 0.3, 0.6)
OF_SCORE_CORRECTIONS = CandidateModel(CandidateWeights(0.0, -0.6, 1.8, 1.3, 1.1, 1.2, 2.0), 0.3, 0.6)


def candidate_model(*, has_scores: bool, corrected: bool) -> CandidateModel:
    """The model of candidates with or without the scores of a network, after clicks or where nothing was shown."""
    if corrected:
        return OF_SCORE_CORRECTIONS if has_scores else OF_CORRECTIONS
    return OF_SCORES if has_scores else OF_STROKES


def candidate_probabilities(
    field: RegionField,
    found: Sequence[Candidate],
    corrections: Sequence[Correction],
    maps: Labels,
    weights: CandidateWeights,
) -> Floats:
    """(K,) probabilities of candidates with maps (K, h, w)."""
    return np.asarray(softmax(candidate_features(field, found, corrections, maps) @ np.array(astuple(weights))))


def candidate_features(
    field: RegionField, found: Sequence[Candidate], corrections: Sequence[Correction], maps: Labels
) -> Floats:
    """(K, 7) features of candidates with maps (K, h, w), in the order of `CandidateWeights`."""
    origins = np.array([[one.resized, one.extended, one.kept] for one in found], np.float64)
    later = origins[:, 2] * np.log(max(len(corrections), 1))
    explained = sum((correction_features(maps, one) for one in corrections[-RECENT:]), np.zeros((len(found), 2)))
    values = bounds(field, found)
    return np.column_stack([values - values.max(), origins, later, explained])
