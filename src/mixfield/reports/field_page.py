"""The page of any posterior: weights, bounds, the variables on which its modes disagree, and the tree of cuts."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from mixfield.mixture.posterior import MixturePosterior
from mixfield.reports import cuts
from mixfield.reports.page import Page, notes, percent, table
from mixfield.reports.png import data_uri, grey_png, smaller

Floats = NDArray[np.float64]

MOST = 300  # variables that are listed
MOVED = 0.01  # change of a probability that is worth a line


def field_page(
    posterior: MixturePosterior,
    *,
    exact_log_z: float | None = None,
    names: Sequence[str] = (),
    title: str = "Posterior",
) -> str:
    """The text of a self-contained HTML page about a posterior over any field.

    Parameters
    ----------
    posterior : what `mixfield.infer` found.
    exact_log_z : the true log Z where it is known; the page then gives the distance to it.
    names : of the variables, in C order.
    title : heading of the page.
    """
    weights, n = posterior.weights, int(np.prod(posterior.shape))
    lead = (
        f"{len(weights)} interpretations of a field of {n} variables, heaviest first"
        if len(weights) > 1
        else f"One interpretation of a field of {n} variables"
    )
    body = [_weights(posterior), _maps(posterior), _bounds(posterior, exact_log_z), _variables(posterior, names)]
    return Page(
        title=title,
        kind="field",
        lead=f"{lead}; log Z~ = {posterior.log_z:.4f}.",
        body="\n".join([*body, cuts.section(posterior)]),
        facts={"tree": cuts.facts(posterior, _runs)},
    ).html()


def _runs(group: NDArray[np.int64]) -> list[int]:
    return np.stack([np.sort(group), np.ones_like(group)], axis=1).ravel().tolist()


def _weights(posterior: MixturePosterior) -> str:
    first = posterior.modes[0].labeling()
    rows = []
    for k, (weight, mode) in enumerate(zip(posterior.weights.tolist(), posterior.modes, strict=True), 1):
        changed = int((mode.labeling() != first).sum())
        rows.append(
            f'<tr><th scope="row">mode {k}</th><td>{percent(weight)}</td>'
            f'<td><span class="bar" style="width:9rem" aria-hidden="true"><i style="width:{100 * weight:.2f}%"></i>'
            f"</span></td><td>{changed}</td></tr>"
        )
    return (
        '<section aria-labelledby="weights"><h2 id="weights">Weights</h2><div class="scroll"><table><caption>'
        "Probability of each mode, and how many variables take another label than in mode 1</caption>"
        "<thead><tr><td></td>"
        '<th scope="col">weight</th><td></td><th scope="col">variables that differ</th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div></section>"
    )


def _maps(posterior: MixturePosterior) -> str:
    """Fields with rows and columns as pictures: how likely the last label is, or which label is the likeliest."""
    if len(posterior.shape) != 2 or min(posterior.shape) < 2:
        return ""
    last = posterior.modes[0].marginals.shape[-1] - 1
    shown = "probability of label 1, black 0 to white 1" if last == 1 else f"labels, black 0 to white {last}"
    figures = []
    for k, (weight, mode) in enumerate(zip(posterior.weights.tolist(), posterior.modes, strict=True), 1):
        values = mode.marginals[..., 1] if last == 1 else mode.labeling() / max(last, 1)
        picture = data_uri(grey_png(smaller(np.rint(255 * values).astype(np.uint8), 512)))
        figures.append(
            f'<figure><img src="{picture}" alt="mode {k} as a map">'
            f"<figcaption>mode {k}, {percent(weight)}</figcaption></figure>"
        )
    return (
        f'<section aria-labelledby="maps"><h2 id="maps">Maps</h2><p>{shown}.</p>'
        f'<div class="maps">{"".join(figures)}</div></section>'
    )


def _bounds(posterior: MixturePosterior, exact_log_z: float | None) -> str:
    rows: list[tuple[object, ...]] = [
        (f"mode {k}", f"{mode.log_z:.4f}", f"{mode.mass_inside:.6f}", "yes" if mode.converged else "no")
        for k, mode in enumerate(posterior.modes, 1)
    ]
    rows.append(("mixture", f"{posterior.log_z:.4f}", "", ""))
    text = f"Mean field alone reaches {posterior.modes[0].log_z:.4f} at best; T_max = {posterior.t_max:.3g}."
    if exact_log_z is not None:
        rows.append(("exact", f"{exact_log_z:.4f}", "", ""))
        text += (
            f" The mixture is {exact_log_z - posterior.log_z:.4f} nats from the truth (its KL divergence), "
            f"its heaviest mode alone {exact_log_z - posterior.modes[0].log_z:.4f}."
        )
    caption = "A_k, lower bounds of the log Z of each mode's cell, and how much of a mode lies inside its cell"
    return (
        f'<section aria-labelledby="bounds"><h2 id="bounds">Bounds</h2><p>{text}</p>'
        f"{table(('', 'A_k', 'mass inside', 'converged'), rows, caption=caption)}{notes(posterior.notes)}</section>"
    )


def _variables(posterior: MixturePosterior, names: Sequence[str]) -> str:
    """The variables whose marginals differ most between modes, with their likeliest label and its probability."""
    if len(posterior.modes) < 2:
        return ""
    stack = np.stack([mode.marginals.reshape(-1, mode.marginals.shape[-1]) for mode in posterior.modes])
    spread = (stack.max(0) - stack.min(0)).max(-1)
    order = np.argsort(-spread, kind="stable")[:MOST]
    order = order[spread[order] > MOVED]
    rows = []
    for i in order.tolist():
        name = names[i] if i < len(names) else _name(i, posterior.shape)
        cells = "".join(_cell(q, stack[0, i]) for q in stack[:, i])
        rows.append(
            f'<tr data-variable="{i}" data-name="{escape(name.lower())}">'
            f'<th scope="row">{escape(name)}</th>{cells}</tr>'
        )
    heads = "".join(f'<th scope="col">mode {k + 1}</th>' for k in range(len(stack)))
    return (
        '<section aria-labelledby="differ"><h2 id="differ">What differs</h2>'
        f"<p>Likeliest label and its probability; {len(order)} of {stack.shape[1]} variables, those that move most "
        "first.</p>"
        '<p class="row"><label for="search">find a variable</label> <input type="search" id="search"> '
        f'<span id="found" aria-live="polite">{len(order)} of {len(order)} variables</span></p>'
        '<div class="scroll tall" tabindex="0" role="region" aria-label="variables">'
        '<table id="variables"><caption>Marginals that differ between the modes</caption><thead><tr>'
        f"<td></td>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table></div></section>"
    )


def _cell(q: Floats, first: Floats) -> str:
    other = ' class="other"' if q.argmax() != first.argmax() else ""
    return f"<td{other}>{int(q.argmax())} ({percent(float(q.max()))})</td>"


def _name(i: int, shape: tuple[int, ...]) -> str:
    if len(shape) == 1:
        return f"x{i}"
    return f"x{tuple(int(k) for k in np.unravel_index(i, shape))}"
