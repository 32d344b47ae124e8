"""The page on people through time."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.measured import Row
from experiments.people import THRESHOLDS
from experiments.tracking import CEILING, SECONDS, WAYS, WINDOWS

DRAWN = ("modes + KSP*", "mean field + KSP", "best mode", "mean field", CEILING)
SHADED = ("modes + KSP*", "mean field + KSP")  # with their intervals; more of them would hide each other
INTRODUCTION = f"""# People through time

`mixfield reproduce tracking` made this page: people detected frame by frame, then joined into tracks by
disjoint paths through time. *KSP* takes one map of each frame, *KSP\\** chooses one of its modes together with
the paths.

MODA by Hungarian matching on the ground; 95 % intervals from resampled blocks of ten frames. *Best mode* is the
oracle of the page on detection, and *oracle's modes + KSP* gives the modes that it chooses at one metre to KSP:
the most that a choice of modes can bring. IDF1 and switches are at one metre. *Gap* is the certificate: no
choice of modes and paths costs less than this below the answer. Settings are the defaults of `mf.track`; the
recording is cut into windows of {WINDOWS.length} frames with {WINDOWS.overlap} of look ahead,
{SECONDS:g} seconds for each.

**What a mode costs.** The paper prices a mode at log((1 - m) / m) and a person in it at log((1 - q) / q). A
mode in which somebody is asserted (q near 1, as clamps do) then earns up to 13.8 nats for each of them, and
pays nothing where no track explains them: KSP\\* can be drawn to the modes with more people, unless q is
clipped. The posterior says what was left out: -log(m Q(x)) is -log m - sum log(1 - q) for the mode, and log((1
- q) / q) for each person. The second term of the price is the same for all tracks and KSP may forget it, but it
differs between modes and KSP\\* may not. With it a mode that asserts somebody pays for that what a track
through them earns back, and no clipping is needed. How much that matters on these sequences is in the tables,
where the printed price also has a row with q clipped at 0.01: tracks of people who are not there are its mark.

![MODA over the distance threshold](tracking.svg)
"""


def write_page(rows: Iterable[Row], about: dict[str, Any], out: Path) -> Path:
    """``tracking.json``, ``tracking.svg`` and ``tracking.md`` in a folder; returns the page."""
    out.mkdir(parents=True, exist_ok=True)
    parts: dict[str, dict[str, list[Row]]] = {}
    for row in rows:
        parts.setdefault(row["source"], {}).setdefault(row["way"], []).append(row)
    numbers = {"made_by": about, "sources": parts}
    (out / "tracking.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    _figure(parts, out / "tracking.svg")
    lines = [INTRODUCTION]
    for title, part in parts.items():
        lines += [f"## {_titled(title, part)}", "", *_table(part), "", *_where_modes_differ(part)]
        if missing := [way for way in WAYS if way not in part]:
            lines += [f"Not measured here: {'; '.join(missing)}.", ""]
    lines += [f"Made by `{about['command']}`; all numbers are in [tracking.json](tracking.json).", ""]
    page = out / "tracking.md"
    page.write_text("\n".join(lines), encoding="utf-8")
    return page


def _titled(title: str, part: dict[str, list[Row]]) -> str:
    count = max(len(rows) for rows in part.values())
    return title if count == 1 else f"{title}, mean of {count}"


def _figure(parts: dict[str, dict[str, list[Row]]], path: Path) -> None:
    from mixfield.reports.curves import Curve, Panel, write_curves

    panels = []
    for title, part in parts.items():
        curves = []
        for way in (way for way in DRAWN if way in part):
            shaded = way in SHADED and len(part[way]) == 1
            intervals = [point["interval"] for point in part[way][0]["curve"]] if shaded else ()
            curves.append(Curve(way, THRESHOLDS, _moda(part[way]), intervals, dashed=way == CEILING))
        panels.append(Panel(_titled(title, part), "distance threshold (m)", "MODA", curves, top=1.0, bottom=0.5))
    write_curves(path, panels)


def _moda(rows: Sequence[Row]) -> list[float]:
    """Means over ``rows`` at each threshold."""
    return np.mean([[point["moda"] for point in row["curve"]] for row in rows], axis=0).tolist()


def _table(part: dict[str, list[Row]]) -> list[str]:
    """Means over sources of one kind; the interval at one metre is that of a single one."""
    at = THRESHOLDS.index(1.0)
    facts = {
        "people": "people_per_frame", "tracks": "tracks", "IDF1": "idf1", "switches": "switches",
        "other than heaviest": "frames_not_heaviest", "gap %": "gap_percent", "seconds": "seconds",
    }  # fmt: skip
    heads = ["", *(f"{d:g} m" for d in THRESHOLDS), "95 % at 1 m", *facts]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for way, rows in part.items():
        low, high = rows[0]["curve"][at]["interval"]
        interval = f"{low:.3f} to {high:.3f}" if len(rows) == 1 else ""
        told = [_mean([row["tracks"] for row in rows if "tracks" in row], key) for key in facts.values()]
        lines.append(f"| {way} | " + " | ".join([*(f"{m:.3f}" for m in _moda(rows)), interval, *told]) + " |")
    return lines


def _where_modes_differ(part: dict[str, list[Row]]) -> list[str]:
    """The mistakes of KSP and KSP* in the frames that the choice of modes is about."""
    if not {"mean field + KSP", "modes + KSP*"} <= set(part):
        return []
    other = [np.array(row["modes"]) > 0 for row in part["modes + KSP*"]]
    without, with_modes = (
        sum(int(np.array(row["mistakes"])[frames].sum()) for row, frames in zip(part[way], other, strict=False))
        for way in ("mean field + KSP", "modes + KSP*")
    )
    count = sum(int(frames.sum()) for frames in other)
    return [
        f"In the {count} frames for which KSP\\* chose another mode than the heaviest, KSP makes {without} mistakes",
        f"at 1 m and KSP\\* {with_modes}.",
        "",
    ]


def _mean(runs: Sequence[dict[str, Any]], key: str) -> str:
    values = [run[key] for run in runs if key in run]
    return f"{round(float(np.mean(values)), 4):.3g}" if values else ""
