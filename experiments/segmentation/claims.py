"""The claims of section 7.3 of the paper against the measurements: a row for each claim and network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from experiments.claims import Claim, confirmed
from experiments.segmentation.gains import COUNTS
from experiments.segmentation.results import FULL, THIRD

NAMES = {"dl513": "strong network (dl513)", "dl257": "weak network (dl257)"}


def claims(parts: dict[str, Any]) -> list[Claim]:
    """The claims of both networks for all images; selections of images have tables of their own."""
    sizes = {size: parts[size] for size in (FULL, THIRD) if size in parts}
    networks = [net for net in NAMES if any(net in part for part in sizes.values())]
    return [
        _of_all_sizes(list(same))
        for net in networks
        for same in zip(*(_claims(part[net], net, size) for size, part in sizes.items()), strict=False)
    ]


def _of_all_sizes(same: Sequence[Claim]) -> Claim:
    """One row for a claim that was measured at several sizes; the verdict names sizes that differ from the first."""
    first, *others = same
    different = [f"; {one.measured.split(':')[0]}: {one.verdict}" for one in others if one.verdict != first.verdict]
    return Claim(first.claim, "; ".join(one.measured for one in same), first.verdict + "".join(different))


def _claims(methods: dict[str, Any], net: str, size: str) -> list[Claim]:
    rival, control = methods["tuned"]
    found = [
        _over_mean_field(methods["ours"]),
        _ahead("1.5 points above DivMBest", methods, rival, 1.5),
        _ahead("above mean fields of noisy scores (not in the paper)", methods, control, 0.0),
        *([_single_variables(methods["single pixels"])] if "single pixels" in methods else []),
    ]
    return [Claim(f"{NAMES[net]}: {one.claim}", f"{size}: {one.measured}", one.verdict) for one in found]


def _over_mean_field(ours: dict[str, Any]) -> Claim:
    count = COUNTS[len(ours["mean"]) - 1]
    low, high = ours["interval"][-1]
    number = f"{ours['mean'][-1]:+.2f} [{low:+.2f}, {high:+.2f}] (K = {count}, {ours['images']} images)"
    return Claim("best of 32 modes 2.5 points over mean field", number, _verdict(low - 2.5, high - 2.5))


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
