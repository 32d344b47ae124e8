"""The tree of cuts on a page: an SVG drawing with selectable nodes, and the numbers of each node for the script."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixfield._labels import label_name
from mixfield.mixture.node import Node
from mixfield.mixture.posterior import MixturePosterior
from mixfield.reports.page import percent, section

Runs = Callable[[NDArray[np.int64]], list[int]]

NODE_WIDTH, NODE_HEIGHT, COLUMN_STEP, ROW_STEP, MARGIN = 138, 30, 176, 40, 8  # pixels
LISTED_LABELS, LISTED_VARIABLES = 3, 6  # of a cut


def tree_section(posterior: MixturePosterior) -> str:
    """The drawing, and the box in which the script explains the selected node; empty for a single node."""
    if len(posterior.tree) < 2:
        return ""
    return section(
        "cuts",
        "The tree of cuts",
        "<p>The states of the field, cut in two repeatedly until each part contains one mode. "
        "The first cut is explained below; select a node to see another.</p>"
        f'<div class="scroll tree">{tree_svg(posterior)}</div>'
        '<div id="cut" class="card" aria-live="polite"></div>',
    )


def tree_facts(posterior: MixturePosterior, runs: Runs, names: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Each node as plain numbers.

    Parameters
    ----------
    posterior : whose tree it is.
    runs : from a group of variables to start, length, start, length, ... on the page.
    names : of the labels.
    """
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


def tree_svg(posterior: MixturePosterior) -> str:
    """The tree as SVG, root on the left, one row per mode."""
    children, weights = _children(posterior.tree), _weights(posterior)
    columns, rows = _layout(children)
    corners = [(MARGIN + c * COLUMN_STEP, MARGIN + r * ROW_STEP) for c, r in zip(columns, rows, strict=True)]
    width = 2 * MARGIN + max(columns) * COLUMN_STEP + NODE_WIDTH
    height = 2 * MARGIN + max(rows) * ROW_STEP + NODE_HEIGHT
    lines = [_line(corners[k], corners[child]) for k in range(len(corners)) for child in children[k]]
    boxes = [_box(k, node, weights[k], corners[k], bool(children[k])) for k, node in enumerate(posterior.tree)]
    return (
        f'<svg class="cuts" width="{width}" height="{height:g}" viewBox="0 0 {width} {height:g}" role="group" '
        f'aria-label="tree of cuts">{"".join(lines)}{"".join(boxes)}</svg>'
    )


def _line(parent: tuple[int, float], child: tuple[int, float]) -> str:
    """A curve from the right side of a node to the left side of its child."""
    (x, y), (x2, y2) = parent, child
    y, y2, middle = y + NODE_HEIGHT / 2, y2 + NODE_HEIGHT / 2, x + (NODE_WIDTH + COLUMN_STEP) / 2
    return f'<path d="M{x + NODE_WIDTH} {y}C{middle} {y} {middle} {y2} {x2} {y2}"/>'


def _box(k: int, node: Node, weight: float, corner: tuple[int, float], is_cut: bool) -> str:
    x, y = corner
    text = f"{'cut' if is_cut else f'mode {node.mode + 1}'} · {percent(weight)}"
    if not is_cut and node.mode < 0:
        text = "left out"
    return (
        f'<g role="button" tabindex="0" aria-pressed="false" data-node="{k}" '
        f'class="{"inner" if is_cut else "leaf"}" aria-label="{escape(text)}, {_side(node) or "all states"}">'
        f'<rect x="{x}" y="{y:g}" width="{NODE_WIDTH}" height="{NODE_HEIGHT}" rx="6"/>'
        f'<text x="{x + NODE_WIDTH / 2}" y="{y + NODE_HEIGHT / 2 + 4.5:g}">{escape(text)}</text></g>'
    )


def _children(tree: Sequence[Node]) -> list[list[int]]:
    children: list[list[int]] = [[] for _ in tree]
    for k, node in enumerate(tree):
        if node.parent >= 0:
            children[node.parent].append(k)
    return children


def _weights(posterior: MixturePosterior) -> list[float]:
    """The weight of the cells below each node."""
    total = [_leaf_weight(posterior, node) for node in posterior.tree]
    for k in range(len(total) - 1, 0, -1):  # children come after their parents
        total[posterior.tree[k].parent] += total[k]
    return total


def _leaf_weight(posterior: MixturePosterior, node: Node) -> float:
    """The share of a leaf in the weight of its mode, which may consist of several cells; 0 for other nodes."""
    if node.mode < 0:
        return 0.0
    weight, mode = float(posterior.weights[node.mode]), posterior.modes[node.mode]
    return weight * float(np.exp(node.log_z - mode.log_z)) if mode.cells else weight


def _layout(children: Sequence[Sequence[int]]) -> tuple[list[int], list[float]]:
    """Column and row of each node: leaves in successive rows, a parent in the mean row of its children."""
    columns, rows, next_row = [0] * len(children), [0.0] * len(children), 0
    stack = [(0, False)]
    while stack:
        k, children_done = stack.pop()
        if children_done:
            rows[k] = float(np.mean([rows[child] for child in children[k]]))
        elif not children[k]:
            rows[k], next_row = float(next_row), next_row + 1
        else:
            stack.append((k, True))
            for child in reversed(children[k]):
                columns[child] = columns[k] + 1
                stack.append((child, False))
    return columns, rows


def _side(node: Node) -> str:
    """The constraint that a node adds to its parent, in words."""
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
    frequent = labels[np.argsort(-counts)[:LISTED_LABELS]].tolist()
    return {
        "size": len(constraint.group),
        "count": constraint.count,
        "labels": ", ".join(label_name(v, names) for v in frequent) + (", ..." if len(labels) > LISTED_LABELS else ""),
        "first": constraint.group[:LISTED_VARIABLES].tolist(),
        "temperature": child.temperature,
        "group": runs(constraint.group),
    }
