"""The page on still images: claims, tables, figure, and what somebody without an oracle gets."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.claims import Claim, table
from experiments.measured import Row
from experiments.segmentation import FEW, ROUGH
from experiments.segmentation_history import HISTORY
from experiments.segmentation_summary import (
    COUNTS,
    FAMILIES,
    at_equal_calls,
    gains,
    interval,
    leads,
    per_mode,
    ranking,
    shared,
    tuned,
)
from mixfield.apps.ranking import FEATURES
from mixfield.reports.curves import Curve, Panel, write_curves

Floats = NDArray[np.float64]

ENOUGH = 0.8  # of the images of another size, for a size to be judged by
SAME = "the same images"
NAMES = {"dl513": "strong network (dl513)", "dl257": "weak network (dl257)"}


def write_page(rows: Sequence[Row], about: dict[str, Any], pictures: Sequence[Path], out: Path) -> Path:
    """Write ``segmentation.md``, ``.json``, ``.svg`` and ``.png``; the page shows ``pictures``, files beside it."""
    sizes = {
        "full resolution": [row for row in rows if row["step"] == 1],
        "a third of the size": [row for row in rows if row["step"] > 1],
    }
    whole, small = sizes.values()
    parts = {"full resolution": whole, f"{SAME}, a third of the size": _same(small, whole)} | sizes
    for name, some in (("every seventh image", _thorough), ("the other half of the images", _other_half)):
        size = _finest({key: some(one) for key, one in sizes.items()})
        parts[f"{name}, {size}"] = some(sizes[size])
    judged = _finest(sizes)
    coefficients, report = ranking(sizes[judged])
    compared = _finest({key: _thorough(one) for key, one in sizes.items()})
    most = max(row["wanted"] for row in rows)
    results = {
        "made_by": about,
        "parts": {name: part for name, some in parts.items() if (part := _part(some))},
        "done": {size: sum(row["method"] == "ours" for row in one) for size, one in sizes.items()},
        "equal_calls": {
            "size": compared,
            "gains": {
                str(count): _equal(_thorough(sizes[compared]), count) for count in COUNTS if 8 <= count <= most // 2
            },
        },
        "coefficients": dict(zip(FEATURES, coefficients, strict=True)),
        "ranking": {"size": judged} | report,
    }
    (out / "segmentation.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    for suffix in (".svg", ".png"):
        write_curves(out / f"segmentation{suffix}", _panels(results), columns=len(NAMES), shared_legend=True)
    page = out / "segmentation.md"
    page.write_text("\n".join(_lines(results, pictures)) + "\n", encoding="utf-8")
    return page


def _same(rows: Sequence[Row], others: Sequence[Row]) -> list[Row]:
    """Those of the images and methods that others have, if these have not come to all of them."""
    images = {(row["net"], row["set"], row["image"], row["method"]) for row in others}
    same = [row for row in rows if (row["net"], row["set"], row["image"], row["method"]) in images]
    return same if len(same) < len(rows) else []


def _finest(sizes: dict[str, list[Row]]) -> str:
    """The first size at which nearly as many images are done as at any."""
    done = {name: sum(row["method"] == "ours" for row in rows) for name, rows in sizes.items()}
    return next(name for name, count in done.items() if count >= ENOUGH * max(done.values()))


def _thorough(rows: Sequence[Row]) -> list[Row]:
    """Those of the images of which more segmentations were wanted than of others."""
    fewest = min((row["wanted"] for row in rows), default=0)
    images = {(row["net"], row["set"], row["image"]) for row in rows if row["wanted"] > fewest}
    return [row for row in rows if (row["net"], row["set"], row["image"]) in images]


def _other_half(rows: Sequence[Row]) -> list[Row]:
    """Those of every second image of a set, on which cuts of whole labels were not chosen."""
    images = {(row["set"], row["image"]) for row in rows}
    second = {one for kind in {name for name, _ in images} for one in sorted(i for i in images if i[0] == kind)[1::2]}
    return [row for row in rows if (row["set"], row["image"]) in second]


def _part(rows: Sequence[Row]) -> dict[str, Any]:
    """Gains on some images, by network and method."""
    found: dict[str, Any] = {}
    measured = shared(rows)
    for net, methods in gains(rows).items():
        ours = measured[net]["ours"]
        found[net] = {
            name: {
                "images": len(one),
                "mean": one.mean(0).round(3).tolist(),
                "median": np.median(one, 0).round(3).tolist(),
                "interval": [_rounded(interval(column)) for column in one.T],
                "behind ours": [_paired(column) for column in leads(ours, measured[net][name]).T],
                "calls per mode": round(per_mode(measured[net][name]), 1),
            }
            for name, one in methods.items()
        }
        found[net]["tuned"] = [tuned(methods, family) for family in FAMILIES]
    return found


def _equal(rows: Sequence[Row], count: int) -> dict[str, Any]:
    """Other methods with as many filterings as so many of our modes took."""
    return {
        net: {
            name: {
                "images": len(one),
                "ours": round(float(one[:, 0].mean()), 3),
                "gain": round(float(one[:, 1].mean()), 3),
                "segmentations": round(float(one[:, 2].mean()), 1),
                "behind ours": _paired(one[:, 0] - one[:, 1]),
            }
            for name, one in methods.items()
        }
        for net, methods in at_equal_calls(rows, count).items()
    }


def _paired(differences: Floats) -> list[float]:
    """Mean and the ends of its 95 % interval."""
    return _rounded((float(differences.mean()), *interval(differences)))


def _rounded(values: Sequence[float]) -> list[float]:
    return [round(value, 3) for value in values]


def _drawn(methods: dict[str, Any]) -> dict[str, Any]:
    """The methods of a network by the names of their curves; of a family the strength that does best."""
    best = {name: name.split()[0] for name in methods["tuned"]}
    families = tuple(best.values())
    return {
        best.get(name, name): one
        for name, one in methods.items()
        if name != "tuned" and (name in best or not name.startswith(families))
    }


def _panels(results: dict[str, Any]) -> list[Panel]:
    return [
        Panel(
            f"{NAMES[net]}, {methods['ours']['images']} images\n{name}",
            "segmentations K",
            "points of mean IoU over mean field",
            [
                Curve(method, COUNTS[: len(one["mean"])], one["mean"], one["interval"] if method == "ours" else ())
                for method, one in _drawn(methods).items()
                if one["images"] == methods["ours"]["images"]
            ],
            log_x=True,
            ticks=COUNTS[: len(methods["ours"]["mean"])],
        )
        for name, part in results["parts"].items()
        for net, methods in part.items()
    ]


def _lines(results: dict[str, Any], pictures: Sequence[Path]) -> list[str]:
    report = results["ranking"]
    return [
        "# Still images: the best of K segmentations",
        "",
        "Photographs with the scores of two networks and default kernels, at full resolution and at a third of the",
        "size, where kernels shrink with the images. Points of mean IoU per image that the best of K segmentations",
        "gains over mean field, mean over images. An oracle gains from any variation, so DivMBest (adapted to mean",
        "field) and mean fields of scores with smooth noise stand beside the modes, with the strength that does best",
        "on each network. Square brackets are 95 % intervals, by resampling images. One filtering is that of the",
        "labels of one mode, and an update of a part of the pixels counts by their share, for every method alike;",
        "what it takes to find where to cut is included. Mean field and the other methods run until no probability",
        f"moves by more than a hundredth, {ROUGH.max_iterations} updates at most; the first mode of methods that cut",
        "is mean field taken ten times as far, which makes a difference on single images (K = 1). firm: modes stay",
        "clamped after four updates; paper: its rule for where to cut (densest window of 51 pixels, breadth first)",
        "with our clamp. Where a method has fewer images than the others, the sets are covered evenly.",
        *_progress(results["done"], results["equal_calls"]["size"]),
        "",
        *table(
            [
                claim
                for name, part in results["parts"].items()
                if not name.startswith(SAME)
                for net in part
                for claim in _claims(part[net], net, name)
            ]
        ),
        "",
        "![gain over the number of segmentations](segmentation.svg)",
        "",
        *(line for name, part in results["parts"].items() for net in part for line in _gains(part[net], net, name)),
        *_equal_lines(results["equal_calls"]["gains"], results["equal_calls"]["size"]),
        *_picture_lines(pictures),
        *HISTORY,
        "",
        *_ranking_lines(report),
        "Coefficients of the ranking, fitted to all images: "
        + ", ".join(f"{name} {value:.3f}" for name, value in results["coefficients"].items())
        + ".",
        "",
        _footer(results["made_by"]),
    ]


def _progress(done: dict[str, int], compared: str) -> list[str]:
    """What is not measured at full resolution yet."""
    whole, small = done.values()
    lines = (
        [f"Full resolution has come to {whole} of {small} pairs of an image and a network."] if whole < small else []
    )
    few = f"More than {FEW} segmentations were only asked for at a third of the size."
    return [*lines, *([few] if compared != next(iter(done)) else [])]


def _footer(about: dict[str, Any]) -> str:
    done, of = about.get("measured", 0), about.get("tasks", 0)
    part = f", {done} of {of} measurements, with which it goes on" if done < of else ""
    return f"Made by `{about['command']}`{part}; all numbers are in [segmentation.json](segmentation.json)."


def _claims(methods: dict[str, Any], net: str, part: str) -> list[Claim]:
    ours, (rival, control) = methods["ours"], methods["tuned"]
    most = COUNTS[len(ours["mean"]) - 1]
    low, high = ours["interval"][-1]
    claims = [
        Claim(
            f"{NAMES[net]}, {part}: best of 32 modes 2.5 points over mean field",
            f"{ours['mean'][-1]:+.2f} [{low:+.2f}, {high:+.2f}] (K = {most}, {ours['images']} images)",
            _word(low - 2.5, high - 2.5),
        )
    ]
    for claim, name, least in (
        ("1.5 points above DivMBest", rival, 1.5),
        ("(not in the paper) above mean fields of noisy scores", control, 0.0),
    ):
        mean, low, high = methods[name]["behind ours"][-1]
        claims.append(
            Claim(claim, f"{mean:+.2f} [{low:+.2f}, {high:+.2f}] against {name}", _word(low - least, high - least))
        )
    if "single pixels" in methods:
        first, *_, reached = methods["single pixels"]["mean"]
        word = "confirmed" if reached - first < 0.2 else "not confirmed"
        number = f"{reached:+.2f}, {reached - first:+.2f} over its first ({methods['single pixels']['images']} images)"
        claims.append(Claim("clamping single variables does nothing", number, word))
    return claims


def _word(low: float, high: float) -> str:
    return "confirmed" if low > 0 else "not confirmed" if high < 0 else "open: the interval holds both"


def _gains(methods: dict[str, Any], net: str, part: str) -> list[str]:
    counts = COUNTS[: len(methods["ours"]["mean"])]
    lines = [
        f"## {NAMES[net].capitalize()}, {part}",
        "",
        f"Mean, median in brackets; {methods['ours']['images']} images; the difference at the largest K of both, on",
        "the images of the method.",
        "",
        f"| method | images | {' | '.join(f'K = {count}' for count in counts)} | ours minus it | filterings per mode |",
        "|---|" + "---|" * (len(counts) + 3),
    ]
    for name, one in methods.items():
        if name == "tuned":
            continue
        cells = [f"{m:.2f} ({d:.2f})" for m, d in zip(one["mean"], one["median"], strict=True)]
        cells += [""] * (len(counts) - len(cells))
        mean, low, high = one["behind ours"][-1]
        behind = "" if name == "ours" else f"{mean:+.2f} [{low:+.2f}, {high:+.2f}]"
        lines.append(f"| {name} | {one['images']} | {' | '.join(cells)} | {behind} | {one['calls per mode']:.0f} |")
    return [*lines, ""]


def _equal_lines(equal: dict[str, Any], size: str) -> list[str]:
    """Gains of other methods with as many filterings as our modes take."""
    rows = [
        f"| {NAMES[net]} | {count} | {one['ours']:.2f} | {name} | {one['segmentations']:.1f} | {one['gain']:.2f} "
        "| {:+.2f} [{:+.2f}, {:+.2f}] |".format(*one["behind ours"])
        for count, networks in equal.items()
        for net, methods in networks.items()
        for name, one in methods.items()
    ]
    if not rows:
        return []
    return [
        "## At an equal number of filterings",
        "",
        "As many segmentations of another method as fit into the filterings that K of our modes took, on every",
        f"seventh image ({size}); at most 32.",
        "",
        "| network | our K | gain | method | its segmentations | gain | ours minus it |",
        "|---|---|---|---|---|---|---|",
        *rows,
        "",
    ]


def _picture_lines(pictures: Sequence[Path]) -> list[str]:
    lines = [
        "## What the modes find",
        "",
        "Of each set the image on which the best of eight modes gains most with the strong network, at full",
        "resolution. Colours stand for labels; what is pale in the truth is not annotated.",
        "",
    ]
    for path in pictures:
        lines += [f"![truth, mean field and best mode]({path.name})", ""]
    return lines if pictures else []


def _ranking_lines(report: dict[str, Any]) -> list[str]:
    learnt, raw = report["learnt"], report["weights"]
    return [
        "## Without an oracle",
        "",
        "Weights m_k follow from the energy and are nearly one-hot here. A ranking learnt from what can be seen of a",
        "mode (`ModeRanking`) and a tempering of the bounds (`Tempering`) are judged on images left out of the",
        f"fit ({report['images']} images and networks, {report['size']}, five folds). Where some mode beats mean",
        f"field by two points ({report['worth']} cases), the best mode comes first {learnt['best first']} times after",
        f"learning, {raw['best first']} times by weight. Among the modes other than mean field it comes first",
        f"{learnt['best first of the others']} and {raw['best first of the others']} times; by chance it would be",
        f"{report['chance']:.0f}.",
        "",
        "| probabilities | best mode first | mean IoU of the first | pixels right by the mixture, % | -log p(truth) "
        "| Brier | calibration error |",
        "|---|---|---|---|---|---|---|",
        *(
            f"| {name} | {one.get('best first', '-')} | {one['mean IoU']:.2f} | {one['right']:.2f} | {one['nll']:.3f} "
            f"| {one['brier']:.4f} | {one['calibration error']:.4f} |"
            for name, one in report.items()
            if isinstance(one, dict)
        ),
        "",
        "shipped: the coefficients that `ModeRanking` has, learnt on these images too, from the modes before there",
        "were whole labels. Such modes turn over much at once when they are wrong: a ranking that trusts them is right",
        "more often and loses more where it is not.",
        "",
    ]
