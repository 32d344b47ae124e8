"""Means and standard errors over the instances of a family of random fields."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.measurements import Row
from experiments.synthetic.families import Family
from experiments.synthetic.methods import BASELINE, COLLAPSED, DEFAULT, MATCHED, METHODS

Floats = NDArray[np.float64]
Curve = dict[str, list[float]]

TRUE_KL, GAIN = "true KL", "log Z~ above mean field"
MEASURED = (*METHODS, BASELINE)
ROOT = "OURS-MAXW, L = 1"  # the first mode of this method is the root of all rules
TIE = 1e-3  # nats


@dataclass(frozen=True, eq=False)
class FamilySummary:
    """The curves of a family.

    Attributes
    ----------
    measure : `TRUE_KL` where exact log Z is known, else `GAIN`.
    modes : (c,) numbers of modes.
    mean_field, curves : mean and standard error of ``measure`` at each number of modes, by method.
    seconds : mean processor time, by method.
    restarts_win : instances in which restarts with equal time end above a method, by method.
    log_z : (instances, c) bounds, by method.
    n_collapsed : number of instances with the curve of collapsed mean fields.
    """

    family: Family
    instances: list[int]
    measure: str
    modes: list[int]
    mean_field: Curve
    curves: dict[str, Curve]
    seconds: dict[str, list[float]]
    restarts_win: dict[str, list[Row]]
    log_z: dict[str, Floats]
    n_collapsed: int

    def as_json(self) -> dict[str, Any]:
        """The entry of ``synthetic.json``, without the bounds of single instances."""
        return {
            "name": self.family.name,
            "instances": self.instances,
            "measure": self.measure,
            "modes": self.modes,
            "mean_field": self.mean_field,
            "curves": self.curves,
            "seconds": self.seconds,
            "restarts_win": self.restarts_win,
            "n_collapsed": self.n_collapsed,
            **asdict(self.family),
        }


def restarts_of(method: str, budget: str = "equal_time") -> str:
    """The name of the curve of restarts with the compute of a method."""
    return f"restarts, {budget.replace('_', ' ')} with {method}"


def summarise(rows: Iterable[Row]) -> list[FamilySummary]:
    """One summary per family, in the order of ``rows``."""
    groups: dict[Family, list[Row]] = defaultdict(list)
    for row in rows:
        groups[Family(**row["family"])].append(row)
    return [_summary(family, sorted(group, key=lambda row: int(row["instance"]))) for family, group in groups.items()]


def _summary(family: Family, rows: list[Row]) -> FamilySummary:
    log_z = _bounds(rows)
    single = np.array([row["mean_field"] for row in rows])[:, None]
    is_exact = all(row["exact_log_z"] is not None for row in rows)
    zero = np.array([row["exact_log_z"] for row in rows])[:, None] if is_exact else single
    sign = -1.0 if is_exact else 1.0
    root = log_z[ROOT][:, :1]
    return FamilySummary(
        family=family,
        instances=[row["instance"] for row in rows],
        measure=TRUE_KL if is_exact else GAIN,
        modes=rows[0]["modes"],
        mean_field=_mean_and_error(np.broadcast_to(sign * (single - zero), log_z[ROOT].shape)),
        curves={
            name: _mean_and_error(sign * (values - zero)) | {"paired_error": standard_errors(values - root)}
            for name, values in log_z.items()
        }
        | ({} if is_exact else {COLLAPSED: _completed(log_z[COLLAPSED] - zero, log_z[DEFAULT] - zero)}),
        seconds={
            name: _measured(np.array([_curve(row, name)["seconds"] for row in rows])).mean(0).tolist()
            for name in MEASURED
        },
        n_collapsed=sum(COLLAPSED in row["curves"] for row in rows),
        restarts_win={name: _restarts_win(rows, name) for name in MATCHED},
        log_z=log_z,
    )


def _bounds(rows: Sequence[Row]) -> dict[str, Floats]:
    """(instances, c) bounds of every method and of the restarts with its compute; NaN where `COLLAPSED` is missing."""
    bounds = {name: np.array([_curve(row, name)["log_z"] for row in rows]) for name in MEASURED}
    for name in MATCHED:
        for budget in ("equal_time", "equal_sweeps"):
            bounds[restarts_of(name, budget)] = np.array([row["restarts"][name][budget] for row in rows])
    return bounds


def _curve(row: Row, name: str) -> Row:
    """The measurements of a method on a field; NaN for collapsed mean fields where an earlier version has none."""
    missing = [float("nan")] * len(row["modes"])
    found: Row = row["curves"].get(name) if name == COLLAPSED else row["curves"][name]
    return found or {"log_z": missing, "seconds": missing}


def _measured(values: Floats) -> Floats:
    """The rows without NaN, or all if none are."""
    rows = values[np.isfinite(values).all(1)]
    return rows if len(rows) else values


def _mean_and_error(values: Floats) -> Curve:
    return {"mean": _measured(values).mean(0).tolist(), "standard_error": standard_errors(values)}


def _completed(values: Floats, reference: Floats) -> Curve:
    """The mean over all fields of a method that is measured on some: that of ``reference`` plus the mean difference.

    Gains over plain mean field differ more between fields than between methods.
    The standard error adds those of both; the paired error is that of the difference.
    """
    difference = standard_errors(values - reference)
    error = np.hypot(standard_errors(reference), difference) if np.isnan(values).any() else standard_errors(values)
    mean = reference.mean(0) + _measured(values - reference).mean(0)
    return {"mean": mean.tolist(), "standard_error": list(error), "paired_error": difference}


def standard_errors(values: Floats) -> list[float]:
    """Standard error of each column, of the rows without NaN; NaN for a single row."""
    values = _measured(values)
    n, columns = values.shape
    return (values.std(0, ddof=1) / np.sqrt(n)).tolist() if n > 1 else [float("nan")] * columns


def _restarts_win(rows: Sequence[Row], method: str) -> list[Row]:
    """The instances in which restarts with equal time end above a method.

    ``by``: the difference in nats; ``above_root``: to the first mode of the method; ``default_above``: of `infer` with
    as many modes to the restarts.
    """
    found = []
    for row in rows:
        restarts, bounds = row["restarts"][method]["equal_time"][-1], row["curves"][method]["log_z"]
        if restarts > bounds[-1] + TIE:
            found.append(
                {
                    "instance": row["instance"],
                    "modes": row["modes"][-1],
                    "by": restarts - bounds[-1],
                    "above_root": restarts - bounds[0],
                    "default_above": row["curves"][DEFAULT]["log_z"][-1] - restarts,
                }
            )
    return found
