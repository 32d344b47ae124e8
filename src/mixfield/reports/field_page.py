"""The page of a posterior over any field: weights, bounds, variables that differ between modes, the tree of cuts."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from mixfield.mixture.posterior import MixturePosterior
from mixfield.reports.cut_tree import tree_facts, tree_section
from mixfield.reports.data_uri import png_uri, subsampled
from mixfield.reports.page import Page, column_headings, html_table, notes, percent, section, table, weight_bar

Floats = NDArray[np.float64]

MAX_VARIABLES = 300  # listed
MIN_CHANGE = 0.01  # of a probability between two modes, for a variable to be listed
MAP_SIDE = 512  # pixels


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
    posterior : from `mixfield.infer`.
    exact_log_z : log Z where it is known; the page then gives the KL divergence, log Z - log Z~.
    names : of the variables, in C order.
    title : heading of the page.
    """
    count, n = len(posterior.modes), int(np.prod(posterior.shape))
    counted = f"{count} modes, heaviest first," if count > 1 else "One mode"
    sections = [
        _weights(posterior),
        _maps(posterior),
        _bounds(posterior, exact_log_z),
        _variables(posterior, names),
        tree_section(posterior),
    ]
    return Page(
        title=title,
        kind="field",
        lead=f"{counted} of a field of {n} variables; log Z~ = {posterior.log_z:.4f}.",
        body="\n".join(sections),
        facts={"tree": tree_facts(posterior, _runs)},
    ).html()


def _runs(group: NDArray[np.int64]) -> list[int]:
    """Start and length, one, of each variable of a group."""
    return np.stack([np.sort(group), np.ones_like(group)], axis=1).ravel().tolist()


def _weights(posterior: MixturePosterior) -> str:
    first = posterior.modes[0].labeling()
    rows = [
        (f"mode {k}", percent(weight), weight_bar(weight, "9rem"), str(int((mode.labeling() != first).sum())))
        for k, (weight, mode) in enumerate(zip(posterior.weights.tolist(), posterior.modes, strict=True), 1)
    ]
    caption = "Probability of each mode, and number of variables with another label than in mode 1"
    return section("weights", "Weights", html_table(("", "weight", "", "variables that differ"), rows, caption=caption))


def _maps(posterior: MixturePosterior) -> str:
    """Images of a field with two axes: the probability of label 1 of two labels, else the most probable label."""
    if len(posterior.shape) != 2 or min(posterior.shape) < 2:
        return ""
    last = posterior.modes[0].marginals.shape[-1] - 1
    scale = "probability of label 1, black 0 to white 1" if last == 1 else f"labels, black 0 to white {last}"
    figures = []
    for k, (weight, mode) in enumerate(zip(posterior.weights.tolist(), posterior.modes, strict=True), 1):
        values = mode.marginals[..., 1] if last == 1 else mode.labeling() / max(last, 1)
        uri = png_uri(subsampled(np.rint(255 * values).astype(np.uint8), MAP_SIDE))
        caption = f"<figcaption>mode {k}, {percent(weight)}</figcaption>"
        figures.append(f'<figure><img src="{uri}" alt="mode {k} as a map">{caption}</figure>')
    return section("maps", "Maps", f'<p>{scale}.</p><div class="maps">{"".join(figures)}</div>')


def _bounds(posterior: MixturePosterior, exact_log_z: float | None) -> str:
    """The bounds A_k of each mode and log Z~ of the mixture (eq. 11)."""
    rows = [
        (f"mode {k}", f"{mode.log_z:.4f}", f"{mode.mass_inside:.6f}", "yes" if mode.converged else "no")
        for k, mode in enumerate(posterior.modes, 1)
    ]
    rows.append(("mixture", f"{posterior.log_z:.4f}", "", ""))
    text = f"The heaviest mode alone reaches {posterior.modes[0].log_z:.4f}; T_max = {posterior.t_max:.3g}."
    if exact_log_z is not None:
        rows.append(("exact", f"{exact_log_z:.4f}", "", ""))
        text += (
            f" The mixture is {exact_log_z - posterior.log_z:.4f} nats from the truth (its KL divergence), "
            f"its heaviest mode alone {exact_log_z - posterior.modes[0].log_z:.4f}."
        )
    caption = "A_k, a lower bound of log Z of the cell of each mode, and the probability of the cell under the mode"
    numbers = table(("", "A_k", "mass inside", "converged"), rows, caption=caption)
    return section("bounds", "Bounds", f"<p>{text}</p>{numbers}{notes(posterior.notes)}")


def _variables(posterior: MixturePosterior, names: Sequence[str]) -> str:
    """A table of the variables whose marginals differ most between modes."""
    if len(posterior.modes) < 2:
        return ""
    q = np.stack([mode.marginals.reshape(-1, mode.marginals.shape[-1]) for mode in posterior.modes])
    listed = _most_changed(q)
    rows = "".join(_variable_row(i, names[i] if i < len(names) else _name(i, posterior.shape), q[:, i]) for i in listed)
    heads = column_headings(["", *(f"mode {k + 1}" for k in range(len(q)))])
    return section(
        "differ",
        "Variables that differ",
        f"<p>The most probable label and its probability; {len(listed)} of {q.shape[1]} variables, largest change of a "
        "probability first.</p>"
        '<p class="row"><label for="search">find a variable</label> <input type="search" id="search"> '
        f'<span id="found" aria-live="polite">{len(listed)} of {len(listed)} variables</span></p>'
        '<div class="scroll tall" tabindex="0" role="region" aria-label="variables">'
        '<table id="variables"><caption>Marginals that differ between the modes</caption><thead><tr>'
        f"{heads}</tr></thead><tbody>{rows}</tbody></table></div>",
    )


def _most_changed(q: Floats) -> list[int]:
    """At most `MAX_VARIABLES` variables by the largest change of a probability between modes, q (K, n, L)."""
    change = (q.max(0) - q.min(0)).max(-1)
    order = np.argsort(-change, kind="stable")[:MAX_VARIABLES]
    return order[change[order] > MIN_CHANGE].tolist()


def _variable_row(i: int, name: str, q: Floats) -> str:
    """The row of variable ``i`` with marginals (K, L)."""
    cells = "".join(_marginal_cell(marginal, q[0]) for marginal in q)
    return f'<tr data-variable="{i}" data-name="{escape(name.lower())}"><th scope="row">{escape(name)}</th>{cells}</tr>'


def _marginal_cell(q: Floats, first: Floats) -> str:
    other = ' class="other"' if q.argmax() != first.argmax() else ""
    return f"<td{other}>{int(q.argmax())} ({percent(float(q.max()))})</td>"


def _name(i: int, shape: tuple[int, ...]) -> str:
    if len(shape) == 1:
        return f"x{i}"
    return f"x{tuple(int(k) for k in np.unravel_index(i, shape))}"
