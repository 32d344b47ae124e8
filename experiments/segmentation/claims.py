"""The claims of section 7.3 of the paper against the measurements."""

from __future__ import annotations

from typing import Any

from experiments.claims import Claim, confirmed
from experiments.segmentation.gains import COUNTS
from experiments.segmentation.results import SAME

NAMES = {"dl513": "strong network (dl513)", "dl257": "weak network (dl257)"}


def claims(parts: dict[str, Any]) -> list[Claim]:
    """The claims of every selection of images and every network."""
    return [
        claim
        for part, networks in parts.items()
        if not part.startswith(SAME)
        for net, methods in networks.items()
        for claim in _claims(methods, f"{NAMES[net]}, {part}")
    ]


def _claims(methods: dict[str, Any], title: str) -> list[Claim]:
    rival, control = methods["tuned"]
    return [
        _over_mean_field(methods["ours"], title),
        _ahead("1.5 points above DivMBest", methods, rival, 1.5),
        _ahead("(not in the paper) above mean fields of noisy scores", methods, control, 0.0),
        *([_single_variables(methods["single pixels"])] if "single pixels" in methods else []),
    ]


def _over_mean_field(ours: dict[str, Any], title: str) -> Claim:
    count = COUNTS[len(ours["mean"]) - 1]
    low, high = ours["interval"][-1]
    number = f"{ours['mean'][-1]:+.2f} [{low:+.2f}, {high:+.2f}] (K = {count}, {ours['images']} images)"
    return Claim(f"{title}: best of 32 modes 2.5 points over mean field", number, _verdict(low - 2.5, high - 2.5))


def _ahead(claim: str, methods: dict[str, Any], name: str, least: float) -> Claim:
    """A claim that our modes are ahead of a method by some points."""
    mean, low, high = methods[name]["behind ours"][-1]
    number = f"{mean:+.2f} [{low:+.2f}, {high:+.2f}] against {name}"
    return Claim(claim, number, _verdict(low - least, high - least))


def _single_variables(method: dict[str, Any]) -> Claim:
    first, *_, last = method["mean"]
    number = f"{last:+.2f}, {last - first:+.2f} over its first ({method['images']} images)"
    return Claim("clamping single variables does nothing", number, confirmed(last - first < 0.2))


def _verdict(low: float, high: float) -> str:
    """The verdict on a claim that a difference is positive, by the interval of the difference."""
    return "confirmed" if low > 0 else "not confirmed" if high < 0 else "open: the interval holds both"
