"""The page ``segmentation.md``, its figure and its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from experiments.claims import table
from experiments.measurements import Row
from experiments.page import PageTemplate, markdown_table, write_results
from experiments.segmentation.claims import NAMES, claims
from experiments.segmentation.figure import write_figure
from experiments.segmentation.gains import COUNTS
from experiments.segmentation.methods import SOLVER
from experiments.segmentation.plan import DEFAULT_COUNT
from experiments.segmentation.results import FULL, results

EQUAL_HEADS = ("network", "our K", "gain", "method", "its segmentations", "gain", "ours minus it")
RANKING_HEADS = (
    "probabilities",
    "best mode first",
    "mean IoU of the first",
    "pixels right by the mixture, %",
    "-log p(truth)",
    "Brier",
    "calibration error",
)


def write_page(rows: Sequence[Row], made_by: dict[str, Any], pictures: Sequence[str], out: Path) -> Path:
    """Write ``segmentation.json``, ``.md``, ``.svg`` and ``.png`` into a folder; returns the path of the page.

    ``pictures`` are the names of the files in the same folder that the page shows.
    """
    numbers = results(rows, made_by)
    page = write_results(out, "segmentation", numbers, page_text(numbers, pictures))
    write_figure(numbers["parts"], out)
    return page


def page_text(numbers: dict[str, Any], pictures: Sequence[str]) -> str:
    """The page that belongs to the numbers of ``segmentation.json``."""
    template, parts, equal = PageTemplate.read("segmentation"), numbers["parts"], numbers["equal_calls"]
    coefficients = ", ".join(f"{name} {value:.3f}" for name, value in numbers["coefficients"].items())
    gains = [
        _gains(template, methods, NAMES[net], name) for name, part in parts.items() for net, methods in part.items()
    ]
    return template.fill(
        max_iterations=SOLVER.max_iterations,
        progress=_progress(template, numbers["done"], equal["size"]),
        claims=table(claims(parts)),
        gains="\n\n".join(gains),
        equal=_equal_calls(template, equal["gains"], equal["size"]),
        pictures=_pictures(template, pictures),
        ranking=_ranking(template, numbers["ranking"]),
        coefficients=coefficients,
        command=numbers["made_by"]["command"],
        remaining=_remaining(template, numbers["made_by"]),
    )


def _progress(template: PageTemplate, done: dict[str, int], compared: str) -> str:
    """What is not measured at full resolution yet."""
    full, third = done.values()
    sentences = [
        template.fill("incomplete", done=full, total=third) if full < third else "",
        "" if compared == FULL else template.fill("few", count=DEFAULT_COUNT),
    ]
    return "\n".join(sentence for sentence in sentences if sentence)


def _remaining(template: PageTemplate, made_by: dict[str, Any]) -> str:
    """How many measurements are left."""
    done, total = made_by.get("measured", 0), made_by.get("tasks", 0)
    return template.fill("remaining", done=done, total=total) if done < total else ""


def _gains(template: PageTemplate, methods: dict[str, Any], network: str, part: str) -> str:
    """The section of a network and a selection of images."""
    ours = methods["ours"]
    counts = COUNTS[: len(ours["mean"])]
    heads = ("method", "images", *(f"K = {count}" for count in counts), "ours minus it", "filterings per mode")
    rows = [_gain_cells(name, method, len(counts)) for name, method in methods.items() if name != "tuned"]
    return template.fill(
        "gains",
        title=f"{network.capitalize()}, {part}",
        images=ours["images"],
        table=markdown_table(heads, rows),
    )


def _gain_cells(name: str, method: dict[str, Any], n_counts: int) -> list[str]:
    cells = [f"{mean:.2f} ({median:.2f})" for mean, median in zip(method["mean"], method["median"], strict=True)]
    cells += [""] * (n_counts - len(cells))
    behind = "" if name == "ours" else _with_interval(method["behind ours"][-1])
    return [name, str(method["images"]), *cells, behind, f"{method['calls per mode']:.0f}"]


def _with_interval(numbers: Sequence[float]) -> str:
    mean, low, high = numbers
    return f"{mean:+.2f} [{low:+.2f}, {high:+.2f}]"


def _equal_calls(template: PageTemplate, gains: dict[str, Any], size: str) -> str:
    """The section on other methods with as many filterings as our modes."""
    rows = [
        (
            NAMES[net],
            count,
            f"{values['ours']:.2f}",
            name,
            f"{values['segmentations']:.1f}",
            f"{values['gain']:.2f}",
            _with_interval(values["behind ours"]),
        )
        for count, networks in gains.items()
        for net, methods in networks.items()
        for name, values in methods.items()
    ]
    return template.fill("equal", size=size, table=markdown_table(EQUAL_HEADS, rows)) if rows else ""


def _pictures(template: PageTemplate, names: Sequence[str]) -> str:
    pictures = "\n\n".join(template.fill("picture", name=name) for name in names)
    return template.fill("pictures", pictures=pictures) if names else ""


def _ranking(template: PageTemplate, report: dict[str, Any]) -> str:
    """The section on rankings without an oracle."""
    learnt, weights = report["learnt"], report["weights"]
    rows = [_ranking_cells(name, scores) for name, scores in report.items() if isinstance(scores, dict)]
    return template.fill(
        "ranking",
        images=report["images"],
        size=report["size"],
        worth=report["worth"],
        learnt_first=learnt["best first"],
        weights_first=weights["best first"],
        learnt_others=learnt["best first of the others"],
        weights_others=weights["best first of the others"],
        chance=f"{report['chance']:.0f}",
        table=markdown_table(RANKING_HEADS, rows),
    )


def _ranking_cells(name: str, scores: dict[str, Any]) -> tuple[Any, ...]:
    return (
        name,
        scores.get("best first", "-"),
        f"{scores['mean IoU']:.2f}",
        f"{scores['right']:.2f}",
        f"{scores['nll']:.3f}",
        f"{scores['brier']:.4f}",
        f"{scores['calibration error']:.4f}",
    )
