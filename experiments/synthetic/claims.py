"""The claims of section 7.1 of the paper against the measurements."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from experiments.claims import Claim, verdict
from experiments.synthetic.methods import BASELINE, MATCHED, SAME_SEARCH
from experiments.synthetic.summary import TIE, FamilySummary, restarts_of, standard_errors

Families = Sequence[FamilySummary]

CLEAR = 2.0  # standard errors from which a paired difference is clear
ENOUGH = 5  # instances from which a difference can be clear
FEW = 16  # modes at which curves are compared as well as at the end


def claims(families: Families) -> list[Claim]:
    """All claims of the page."""
    return [
        *(_random_above_baseline(families, size) for size in (1, 3)),
        *(_maxw_above_random(families, size) for size in (1, 3)),
        *_groups_above_single_variables(families),
        *(_above_restarts(families, method) for method in MATCHED),
    ]


def _random_above_baseline(families: Families, size: int) -> Claim:
    method = f"OURS-RANDOM, L = {size}"
    count, same_search = always_above(families, method, BASELINE), always_above(families, method, SAME_SEARCH)
    return Claim(
        f"OURS-RANDOM is better than BASELINE-MAXW in most cases (L = {size})",
        f"better on average at every number of modes in {count} of {len(families)} families; against MaxW clamping "
        f"with the same annealed search in {same_search}",
        verdict(count, len(families)),
    )


def _maxw_above_random(families: Families, size: int) -> Claim:
    claim = f"OURS-MAXW performs even better than OURS-RANDOM (L = {size})"
    return _above(claim, families, f"OURS-MAXW, L = {size}", f"OURS-RANDOM, L = {size}")


def _groups_above_single_variables(families: Families) -> list[Claim]:
    found = []
    for side in sorted({f.family.size for f in families}, reverse=True):
        for sign in ("mixed", "attractive"):
            chosen = [f for f in families if (f.family.size, f.family.sign) == (side, sign)]
            for name in ("OURS-RANDOM", "OURS-MAXW"):
                claim = f"{side} x {side}, {sign}, {name}: groups of L = 3 are better than single variables, L = 1"
                claim += " (larger fields)" if side == 13 else ""
                found.append(_above(claim, chosen, f"{name}, L = 3", f"{name}, L = 1"))
    return found


def _above_restarts(families: Families, method: str) -> Claim:
    count = always_above(families, method, restarts_of(method))
    lost = sum(len(f.restarts_win[method]) for f in families)
    total = sum(len(f.instances) for f in families)
    exceptions = "; ".join(behind(families, method, restarts_of(method)))
    exceptions = f" (restarts are ahead in {exceptions})" if exceptions else ""
    return Claim(
        f"not in the paper: {method} beats cold restarts given the same time",
        f"on average at every number of modes in {count} of {len(families)} families{exceptions}; at the last one "
        f"restarts end above it in {lost} of {total} instances",
        verdict(count, len(families)),
    )


def _above(claim: str, families: Families, first: str, second: str) -> Claim:
    """A claim that the first curve lies above the second: paired differences with `FEW` and with all modes, judged by
    the latter."""
    modes = sorted({f.modes[-1] for f in families})
    measured, above, below = _clear_differences(differences(families, first, second), modes)
    if modes[0] > FEW:
        few, *_ = _clear_differences(differences(families, first, second, families[0].modes.index(FEW)), [FEW])
        measured = f"{few}. {measured}"
    if above > below:
        return Claim(claim, measured, "confirmed" if above > len(families) / 2 else "partly confirmed")
    return Claim(claim, measured, "not confirmed" if below else "no clear difference")


def _clear_differences(pairs: Sequence[tuple[float, float]], modes: Sequence[int]) -> tuple[str, int, int]:
    """A sentence about differences (mean, standard error), and in how many families they are clear, up and down."""
    above = sum(mean > max(CLEAR * error, TIE) for mean, error in pairs)
    below = sum(-mean > max(CLEAR * error, TIE) for mean, error in pairs)
    average = float(np.mean([mean for mean, _ in pairs]))
    sentence = (
        f"{' or '.join(map(str, modes))} modes: {average:+.2f} nats on average; clearly better in {above}, clearly "
        f"worse in {below} of {len(pairs)} families"
    )
    return sentence, above, below


def differences(families: Families, first: str, second: str, index: int = -1) -> list[tuple[float, float]]:
    """Mean and standard error of the differences of log Z~ in each family, at one of the numbers of modes.

    The standard error is infinite below `ENOUGH` instances.
    """
    pairs = []
    for entry in families:
        gaps = (entry.log_z[first] - entry.log_z[second])[:, [index]]
        error = standard_errors(gaps)[0] if len(gaps) >= ENOUGH else float("inf")
        pairs.append((float(gaps.mean()), error))
    return pairs


def always_above(families: Families, first: str, second: str) -> int:
    """Number of families in which ``first`` lies above ``second`` on average at every number of modes, up to ties."""
    gaps = [(f.log_z[first] - f.log_z[second]).mean(0) for f in families]
    return sum(bool((gap >= -TIE).all() and gap.mean() > 0) for gap in gaps)


def behind(families: Families, first: str, second: str) -> list[str]:
    """Where ``first`` lies below ``second`` on average: family, numbers of modes, and the largest difference."""
    found = []
    for entry in families:
        gap = (entry.log_z[first] - entry.log_z[second]).mean(0)
        below = np.flatnonzero(gap < -TIE)
        if len(below):
            modes = ", ".join(str(entry.modes[k]) for k in below)
            found.append(f"{entry.family.name} at {modes}, by {-gap.min():.2g} nats at most")
    return found
