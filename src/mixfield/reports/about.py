"""What the modes of a posterior are about, in words for figures, pages, notebooks and terminals."""

from __future__ import annotations

from collections.abc import Sequence

from mixfield.apps.questions import questions
from mixfield.mixture.posterior import MixturePosterior
from mixfield.reports.page import percent

ONE_HOT = (
    "The weights by the energy are one-hot: it counts every pixel as independent evidence, so that they say which mode "
    "the energy prefers, not how probable it is."
)
TWO_PROBABILITIES = (
    "The probability of a mode is that it is the best by mean IoU; the odds of a question are about its region."
)


def about_modes(posterior: MixturePosterior, differs: Sequence[float], names: Sequence[str] = ()) -> list[str]:
    """For each mode its question, or the share of pixels in which it differs from mode 1.

    Parameters
    ----------
    posterior : over pixels, or over superpixels.
    differs : (K,) share of pixels in which each mode differs from mode 1.
    names : of the labels.
    """
    first = "largest weight" if posterior.calibration is None else "mean field"
    texts = [first, *(f"differs from mode 1 in {percent(float(share))} of the pixels" for share in differs[1:])]
    for question in questions(posterior):
        texts[question.mode] = question.text(names)
    return texts


def two_probabilities(calibrated: bool, n_modes: int) -> str:
    """What the probability of a mode is of, and what the odds beside it; empty where there are no such two."""
    return TWO_PROBABILITIES if calibrated and n_modes > 1 else ""


def weight_text(posterior: MixturePosterior, k: int) -> str:
    """The weight of a mode in per cent; if it is calibrated and beside the odds of a question, what it is of."""
    short = " best by IoU" if two_probabilities(posterior.calibration is not None, len(posterior.modes)) else ""
    return f"{percent(float(posterior.weights[k]))}{short}"


def weight_name(calibrated: bool) -> str:
    """What the weights of modes are called: probabilities if they are calibrated."""
    return "probability" if calibrated else "weight"


def is_without_doubt(posterior: MixturePosterior) -> bool:
    """Whether alternatives were looked for, and none is worth a slot."""
    return posterior.calibration is not None and posterior.calibration.without_doubt
