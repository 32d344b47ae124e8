"""Claims about accuracy and time against the measurements."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from experiments.claims import Claim, verdict
from experiments.generic.methods import OURS, PYGMS_MEAN_FIELD, RETURNS_MODES, SAMPLER
from experiments.generic.summary import at_least_as_close, errors
from experiments.measurements import Row

TIE = 1e-4


def claims(models: Sequence[Row]) -> list[Claim]:
    """All claims of the page."""
    tests: dict[str, Callable[[Row], bool]] = {
        "closest to log Z among the methods that return modes": lambda m: _is_closest(m, "log_z_error"),
        "closest to the marginals among the methods that return modes": lambda m: _is_closest(m, "marginal_error"),
        "never slower than pygms' mean field at equal error of log Z": _is_never_slower,
        "on the Pareto front of the methods that return modes": _is_on_the_front,
        "closer to log Z than the tempered Gibbs sampler, which returns none": _beats_sampler,
    }
    return [_claim(claim, [m["model"] for m in models if not holds(m)], len(models)) for claim, holds in tests.items()]


def _claim(claim: str, exceptions: list[str], total: int) -> Claim:
    count = total - len(exceptions)
    suffix = f", not on {', '.join(exceptions)}" if exceptions else ""
    return Claim(claim, f"on {count} of {total} models{suffix}", verdict(count, total))


def _is_closest(model: Row, key: str) -> bool:
    best = {name: min(errors(model, name, key), default=np.inf) for name in RETURNS_MODES}
    return best[OURS] <= min(best.values()) + TIE


def _is_never_slower(model: Row) -> bool:
    """Whether for each answer of pygms' mean field one of ours is as close in no more time."""
    rivals = [r for r in model["rows"] if r["method"] == PYGMS_MEAN_FIELD and r["log_z_error"] is not None]
    return all(any(o["seconds"] <= r["seconds"] for o in at_least_as_close(model, r["log_z_error"])) for r in rivals)


def _is_on_the_front(model: Row) -> bool:
    """Whether no other method that returns modes beats one of our answers in both time and error."""
    rows = [r for r in model["rows"] if r["method"] in RETURNS_MODES and r["log_z_error"] is not None]
    ours, others = ([r for r in rows if (r["method"] == OURS) is is_ours] for is_ours in (True, False))
    return not any(
        o["seconds"] < r["seconds"] and o["log_z_error"] < r["log_z_error"] - TIE for r in ours for o in others
    )


def _beats_sampler(model: Row) -> bool:
    ours, sampler = (errors(model, name, "log_z_error") for name in (OURS, SAMPLER))
    return min(ours) <= min(sampler, default=np.inf)
