"""The figure ``synthetic.svg``: one panel per family."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.curves import Curve, Panel, write_curves
from experiments.synthetic.families import Family
from experiments.synthetic.methods import BASELINE, COLLAPSED, DEFAULT, SAME_SEARCH
from experiments.synthetic.summary import TRUE_KL, restarts_of

FLOOR = 1e-3  # nats, the lower end of the logarithmic axis
TICKS = (1, 2, 4, 8, 16, 64)
# name, curve, colour, dashed
CURVES = (
    ("BASELINE-MAXW", BASELINE, "#8d96a3", False),
    ("MaxW with our search", SAME_SEARCH, "#8d96a3", True),
    ("restarts, time of OURS-MAXW, L = 3", restarts_of("OURS-MAXW, L = 3"), "#edae49", False),
    ("OURS-RANDOM, L = 1", "OURS-RANDOM, L = 1", "#00798c", True),
    ("OURS-RANDOM, L = 3", "OURS-RANDOM, L = 3", "#00798c", False),
    ("OURS-MAXW, L = 1", "OURS-MAXW, L = 1", "#3b3b58", True),
    ("OURS-MAXW, L = 3", "OURS-MAXW, L = 3", "#3b3b58", False),
    ("mf.infer(collapse=False)", DEFAULT, "#d1495b", True),
    ("collapsed", COLLAPSED, "#d1495b", False),
)


def family_of(entry: dict[str, Any]) -> Family:
    """The family of an entry of ``synthetic.json``."""
    return Family(*(entry[key] for key in ("size", "preset", "attractive", "topology")))


def write_figure(entries: Sequence[dict[str, Any]], out: Path) -> None:
    """Write ``synthetic.svg`` and ``synthetic.png``."""
    panels = [_panel(entry) for entry in sorted(entries, key=lambda e: (-e["size"], e["preset"]))]
    for suffix in ("svg", "png"):
        write_curves(out / f"synthetic.{suffix}", panels, columns=4, shared_legend=True, size=(3.9, 3.2))


def _panel(entry: dict[str, Any]) -> Panel:
    modes, family, is_exact = entry["modes"], family_of(entry), entry["measure"] == TRUE_KL
    curves = [_curve(entry, *style) for style in CURVES]
    values = [y for curve in curves if curve.name != BASELINE for y in curve.y]
    margin = 0.1 * (max(values) - min(values))
    ticks = TICKS[:: 1 if len(modes) < 6 else 2]
    return Panel(
        f"{family.size} x {family.size}, {family.sign} {family.topology}, {family.preset}, "
        f"n = {len(entry['instances'])}",
        "modes",
        "true KL(Q || P), nats" if is_exact else "log Z~ above mean field, nats",
        curves,
        top=None if is_exact else max(values) + margin,
        bottom=None if is_exact else min(values) - margin,
        log_x=True,
        log_y=is_exact,
        ticks=[k for k in modes if k in ticks or k == modes[-1]],
    )


def _curve(entry: dict[str, Any], name: str, key: str, colour: str, dashed: bool) -> Curve:
    """A curve with a band of one standard error; without exact log Z, of the difference to the root."""
    is_exact = entry["measure"] == TRUE_KL
    error_key = "standard_error" if is_exact else "paired_error"
    mean, error = (np.array(entry["curves"][key][part]) for part in ("mean", error_key))
    error = np.nan_to_num(error)
    low, high = mean - error, mean + error
    if is_exact:
        low, mean, high = (np.maximum(values, FLOOR) for values in (low, mean, high))
    return Curve(name, entry["modes"], mean.tolist(), np.stack([low, high], -1).tolist(), colour, dashed)
