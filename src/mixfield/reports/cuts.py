"""The tree of cuts on a page: a drawing whose nodes can be pressed, and what each of them says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield.mixture.node import Node
from mixfield.mixture.posterior import MixturePosterior
from mixfield.reports.page import percent

Runs = Callable[[NDArray[np.int64]], list[int]]

WIDE, HIGH, ACROSS, DOWN, RIM = 138, 30, 176, 40, 8


def section(posterior: MixturePosterior) -> str:
    """The drawing, and the place where the script explains the node that was pressed."""
    if len(posterior.tree) < 2:
        return ""
    return (
        '<section aria-labelledby="cuts"><h2 id="cuts">The tree of cuts</h2>'
        "<p>All states of the field, cut in two again and again until every part holds one interpretation. "
        "Here is the first cut; press a node to see another.</p>"
        f'<div class="scroll tree">{drawing(posterior)}</div>'
        '<div id="cut" class="card" aria-live="polite"></div></section>'
    )


def facts(posterior: MixturePosterior, runs: Runs, names: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Each node as plain numbers; ``runs`` writes a group of variables as starts and lengths on the page."""
    tree, children, weights = posterior.tree, _children(posterior.tree), _weights(posterior)
    return [
        {
            "mode": node.mode,
            "weight": weights[k],
            "log_z": node.log_z,
            "side": _side(node),
            "children": children[k],
            "cut": _cut(tree[children[k][0]], runs, names) if children[k] else None,
        }
        for k, node in enumerate(tree)
    ]


def drawing(posterior: MixturePosterior) -> str:
    """The tree as SVG: time runs from left to right, one line per mode."""
    tree, children, weights = posterior.tree, _children(posterior.tree), _weights(posterior)
    column, row = _places(tree, children)
    width = RIM * 2 + max(column) * ACROSS + WIDE
    height = RIM * 2 + max(row) * DOWN + HIGH
    lines, boxes = [], []
    for k, node in enumerate(tree):
        x, y = RIM + column[k] * ACROSS, RIM + row[k] * DOWN
        for child in children[k]:
            x2, y2, middle = RIM + column[child] * ACROSS, RIM + row[child] * DOWN + HIGH / 2, x + (WIDE + ACROSS) / 2
            path = f"M{x + WIDE} {y + HIGH / 2}C{middle} {y + HIGH / 2} {middle} {y2} {x2} {y2}"
            lines.append(f'<path d="{path}"/>')
        shown = f"mode {node.mode + 1} · {percent(weights[k])}" if node.mode >= 0 else f"cut · {percent(weights[k])}"
        spoken = f"{shown}, {_side(node) or 'all states'}"
        boxes.append(
            f'<g role="button" tabindex="0" aria-pressed="false" data-node="{k}" '
            f'class="{"leaf" if node.mode >= 0 else "inner"}" aria-label="{escape(spoken)}">'
            f'<rect x="{x}" y="{y:g}" width="{WIDE}" height="{HIGH}" rx="6"/>'
            f'<text x="{x + WIDE / 2}" y="{y + HIGH / 2 + 4.5:g}">{escape(shown)}</text></g>'
        )
    return (
        f'<svg class="cuts" width="{width}" height="{height:g}" viewBox="0 0 {width} {height:g}" role="group" '
        f'aria-label="tree of cuts">{"".join(lines)}{"".join(boxes)}</svg>'
    )


def _children(tree: Sequence[Node]) -> list[list[int]]:
    found: list[list[int]] = [[] for _ in tree]
    for k, node in enumerate(tree):
        if node.parent >= 0:
            found[node.parent].append(k)
    return found


def _weights(posterior: MixturePosterior) -> list[float]:
    """The weight of the modes below each node."""
    total = [float(posterior.weights[node.mode]) if node.mode >= 0 else 0.0 for node in posterior.tree]
    for k in range(len(total) - 1, 0, -1):  # children come after their parents
        total[posterior.tree[k].parent] += total[k]
    return total


def _places(tree: Sequence[Node], children: list[list[int]]) -> tuple[list[int], list[float]]:
    """Column and row of each node: leaves below one another, parents between their children."""
    column, row, next_row = [0] * len(tree), [0.0] * len(tree), 0
    stack = [(0, False)]
    while stack:
        k, done = stack.pop()
        if done:
            row[k] = float(np.mean([row[child] for child in children[k]]))
        elif not children[k]:
            row[k], next_row = float(next_row), next_row + 1
        else:
            stack.append((k, True))
            for child in reversed(children[k]):
                column[child] = column[k] + 1
                stack.append((child, False))
    return column, row


def _side(node: Node) -> str:
    if node.constraint is None:
        return ""
    count, size = node.constraint.count, len(node.constraint.group)
    if size == 1:
        return "takes it" if node.constraint.sign > 0 else "does not take it"
    return f"at least {count} of {size}" if node.constraint.sign > 0 else f"fewer than {count} of {size}"


def _cut(child: Node, runs: Runs, names: Sequence[str]) -> dict[str, Any]:
    constraint = child.constraint
    assert constraint is not None
    labels, counts = np.unique(constraint.labels, return_counts=True)
    most = np.argsort(-counts)[:3]
    shown = [names[v] if v < len(names) else f"label {v}" for v in labels[most].tolist()]
    return {
        "size": len(constraint.group),
        "count": constraint.count,
        "labels": ", ".join(shown) + (", ..." if len(labels) > 3 else ""),
        "first": constraint.group[:6].tolist(),
        "temperature": child.temperature,
        "group": runs(constraint.group),
    }
