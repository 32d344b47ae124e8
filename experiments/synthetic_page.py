"""The page about random fields: claims, tables, figure and numbers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from experiments import claims
from experiments.synthetic import BASELINE, BATCH, DEFAULT, MATCHED
from experiments.synthetic_summary import ENOUGH, FEW, SAME_SEARCH, restarts_of, summarise
from experiments.synthetic_summary import claims as judged
from mixfield.reports.curves import Curve, Panel, write_curves

STEP = "equal_sweeps"
FLOOR = 1e-3  # nats, the lower end of the logarithmic axis
COLUMNS = (
    ("BASELINE-MAXW", BASELINE),
    ("same, annealed", SAME_SEARCH),
    ("RANDOM L=1", "OURS-RANDOM, L = 1"),
    ("RANDOM L=3", "OURS-RANDOM, L = 3"),
    ("MAXW L=1", "OURS-MAXW, L = 1"),
    ("MAXW L=3", "OURS-MAXW, L = 3"),
    ("restarts, its time", restarts_of("OURS-MAXW, L = 3")),
    ("restarts, its sweeps", restarts_of("OURS-MAXW, L = 3", STEP)),
    ("`mf.infer`", DEFAULT),
    ("restarts, its time", restarts_of(DEFAULT)),
    ("restarts, its sweeps", restarts_of(DEFAULT, STEP)),
)
# name, curve, colour, dashed
DRAWN = (
    ("BASELINE-MAXW", BASELINE, "#8d96a3", False),
    ("MaxW with our search", SAME_SEARCH, "#8d96a3", True),
    ("restarts, time of OURS-MAXW, L = 3", restarts_of("OURS-MAXW, L = 3"), "#edae49", False),
    ("OURS-RANDOM, L = 1", "OURS-RANDOM, L = 1", "#00798c", True),
    ("OURS-RANDOM, L = 3", "OURS-RANDOM, L = 3", "#00798c", False),
    ("OURS-MAXW, L = 1", "OURS-MAXW, L = 1", "#3b3b58", True),
    ("OURS-MAXW, L = 3", "OURS-MAXW, L = 3", "#3b3b58", False),
    ("mf.infer, its defaults", DEFAULT, "#d1495b", False),
)

LEGEND = f"""\
Curves are means over n instances; bands are one standard error. Where exact log Z fits (all grids, 7 x 7 random graphs)
the axis is the true KL(Q || P) = log Z - log Z~, lower is better; random graphs of 13 x 13 have a treewidth near 30,
and the axis is log Z~ above that of plain mean field, higher is better: BASELINE-MAXW lies below some of these panels,
and bands are the standard error of the distance to the root that all rules share. The paper plots a TRW upper bound
minus log Z~.

- **OURS-RANDOM, OURS-MAXW**: the paper's phase-transition rule, C = L, breadth first. Each leaf starts from its parent,
  from the best optimum seen so far and from one cooled random state; the root from 24 of these.
- **BASELINE-MAXW**: clamp the variable with the largest sum of |W|, plain mean field in each leaf. **Annealed**, or
  *same search*: the same variables with the root and the leaves of OURS. It separates what the rule brings from what
  the search brings.
- **`mf.infer`**: what the library does if nobody says otherwise (looks ahead, best first, polishes).
- **restarts**: the best of cold starts in batches of {BATCH}, with the processor time (one thread) or the number of
  sweeps that a method took for as many modes. With equal time the better of two orders of sweeping, each given the
  full time; with equal sweeps colour by colour, as the methods themselves sweep. Processor time depends a little on
  what else the machine does; sweeps do not.

Preset `weller` has half of the couplings and fields of `mmmf` and the same seeds: it is `mmmf` at temperature two.
""".splitlines()


def write_page(measured: Sequence[dict[str, Any]], about: dict[str, Any], out: Path) -> Path:
    """``synthetic.json``, ``.svg``, ``.png`` and ``.md`` in a folder; returns the page."""
    out.mkdir(parents=True, exist_ok=True)
    families = summarise(measured)
    found = judged(families)
    kept = [{k: v for k, v in f.items() if k not in ("family", "log_z")} | asdict(f["family"]) for f in families]
    results = {
        "made_by": about,
        "claims": [asdict(c) for c in found],
        "families": kept,
        "instances": list(measured),
    }
    (out / "synthetic.json").write_text(json.dumps(_rounded(results)) + "\n", encoding="utf-8")
    panels = [_panel(f) for f in sorted(families, key=lambda f: (-f["family"].size, f["family"].preset))]
    for ending in ("svg", "png"):
        write_curves(out / f"synthetic.{ending}", panels, columns=4, shared_legend=True, size=(3.9, 3.2))
    page = out / "synthetic.md"
    page.write_text("\n".join(_page(families, found, about)) + "\n", encoding="utf-8")
    return page


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 4) if value == value else None
    if isinstance(value, dict):
        return {key: _rounded(v) for key, v in value.items()}
    return [_rounded(v) for v in value] if isinstance(value, list | tuple) else value


def _panel(entry: dict[str, Any]) -> Panel:
    modes = entry["modes"]
    kind, is_true = entry["family"], entry["measure"] == "true KL"
    shown = "standard_error" if is_true else "paired_error"
    curves = []
    for name, key, colour, dashed in DRAWN:
        mean, error = (np.array(entry["curves"][key][part]) for part in ("mean", shown))
        error = np.nan_to_num(error)
        low, high = mean - error, mean + error
        if is_true:
            low, mean, high = (np.maximum(values, FLOOR) for values in (low, mean, high))
        curves.append(Curve(name, modes, mean.tolist(), np.stack([low, high], -1).tolist(), colour, dashed))
    seen = [y for curve in curves if curve.name != BASELINE for y in curve.y]
    margin = 0.1 * (max(seen) - min(seen))
    return Panel(
        f"{kind.size} x {kind.size}, {kind.sign} {kind.topology}, {kind.preset}, n = {len(entry['instances'])}",
        "modes",
        "true KL(Q || P), nats" if is_true else "log Z~ above mean field, nats",
        curves,
        top=None if is_true else max(seen) + margin,
        bottom=None if is_true else min(seen) - margin,
        log_x=True,
        log_y=is_true,
        ticks=[k for k in modes if k in (1, 2, 4, 8, 16, 64)[:: 1 if len(modes) < 6 else 2] or k == modes[-1]],
    )


def _page(families: Sequence[dict[str, Any]], found: Sequence[claims.Claim], about: dict[str, Any]) -> list[str]:
    complete = _complete(families, about["instances"])
    lines = [
        "# Random fields",
        "",
        f"`{about['command']}` made this page: section 7.1 of the paper, couplings and fields drawn at random,",
        "mixed or attractive, on grids and on random graphs with as many edges. " + complete,
        "",
        *claims.table(found),
        "",
        "![Distance to the posterior over the number of modes](synthetic.svg)",
        "",
        *LEGEND,
    ]
    for side in sorted({f["family"].size for f in families}, reverse=True):
        chosen = [f for f in families if f["family"].size == side]
        modes = chosen[0]["modes"]
        for at in sorted({modes.index(min(FEW, modes[-1])), len(modes) - 1}):
            lines += ["", f"## {side} x {side}, {modes[at]} modes: mean and standard error in nats", ""]
            lines += _table([f for f in chosen if f["measure"] == "true KL"], at, "true KL, lower is better")
            others = [f for f in chosen if f["measure"] != "true KL"]
            lines += _table(others, at, "log Z~ above mean field, higher is better")
    return [*lines, *_losses(families), *_about(about)]


def _complete(families: Sequence[dict[str, Any]], wanted: int) -> str:
    """How much of the protocol is in."""
    every = [len(f["instances"]) for f in families]
    if min(every) == wanted:
        return f"All {wanted} instances of every family are in."
    return (
        f"**This page has {_span(every)} of the {wanted} instances of each family**: the run was stopped, and the same "
        "command goes on with the others. Differences are called clear from two standard errors and "
        f"{ENOUGH} instances on: where there are fewer, the numbers are an impression, not evidence."
    )


def _span(numbers: Sequence[int]) -> str:
    return f"{min(numbers)}" if min(numbers) == max(numbers) else f"{min(numbers)} to {max(numbers)}"


def _table(families: Sequence[dict[str, Any]], at: int, what: str) -> list[str]:
    if not families:
        return []
    lines = [f"| {what} | instances | mean field | " + " | ".join(head for head, _ in COLUMNS) + " |"]
    lines.append("|---" * (len(COLUMNS) + 3) + "|")
    for entry in families:
        kind = entry["family"]
        cells = [_cell(entry["mean_field"], at), *(_cell(entry["curves"][key], at) for _, key in COLUMNS)]
        name = f"{kind.sign} {kind.topology}, {kind.preset}"
        lines.append(f"| {name} | {len(entry['instances'])} | " + " | ".join(cells) + " |")
    return [*lines, ""]


def _cell(curve: dict[str, list[float]], at: int) -> str:
    mean, error = curve["mean"][at], curve["standard_error"][at]
    return f"{mean:.2f}" if error != error else f"{mean:.2f} ± {error:.2f}"


def _losses(families: Sequence[dict[str, Any]]) -> list[str]:
    """Where restarts still win."""
    lines = [
        "## Where restarts still win",
        "",
        "At the last number of modes and equal time, for one of two reasons. Where restarts are above the root (the",
        "one mode before any cut), they know an optimum that the rule's search missed: the root is the best of 24",
        "cooled states, and where none of these falls into the basin of the best optimum and no cut forces a leaf",
        "into it, some thousand cold starts may. Where they are at the root, the optimum is the same, and soft cuts",
        "(fewer than three of three) cost more by what holds the leaves than the leaves brought. `mf.infer` begins",
        "with the same cooled states, but cuts strictly, and where looking ahead finds most: the last column tells how",
        "far it is above what restarts found.",
        "",
        "| family | instance | restarts win against | modes | by (nats) | above its root by | `mf.infer` above them |",
        "|---|---|---|---|---|---|---|",
    ]
    count = 0
    for entry in families:
        for name in MATCHED:
            for loss in entry["restarts_win"][name]:
                count += 1
                lines.append(
                    f"| {entry['name']} | {loss['instance']} | {name} | {loss['modes']} | {loss['by']:.2f} | "
                    f"{loss['above_root']:.2f} | {loss['default_above']:+.2f} |"
                )
    return lines if count else [*lines[:2], "Nowhere: in no instance do restarts end above any of the three."]


def _about(about: dict[str, Any]) -> list[str]:
    versions = ", ".join(f"{name} {number}" for name, number in about["versions"].items())
    return ["", f"Seeds: {about['seeds']}. {versions}. All numbers: [synthetic.json](synthetic.json)."]
