"""The page of a segmentation: modes over the image, where they differ, a pixel probe, and the tree of cuts."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield._runs import runs_of
from mixfield.io.images import pascal_palette
from mixfield.mixture.posterior import MixturePosterior
from mixfield.reports import palette
from mixfield.reports.about import ONE_HOT, about_modes, is_without_doubt, two_probabilities, weight_name
from mixfield.reports.cut_tree import tree_facts, tree_section
from mixfield.reports.data_uri import photo_uri, png_uri, sampling_step, subsampled
from mixfield.reports.doubt import NAMES, TEXTS, Doubt, doubt_of
from mixfield.reports.page import Page, html_table, legend, notes, percent, section, table, weight_bar
from mixfield.reports.segmentation_figure import displayed
from mixfield.reports.segmentation_planes import PixelPosterior, indices_of, pixel_posterior, planes

Bytes = NDArray[np.uint8]
Floats = NDArray[np.float64]

VIEW_SIDE = 1024  # pixels of the longer side of what the page draws; downloads are in full resolution
LISTED_LABELS = 8  # of a mode, in the table of numbers
NATS = (
    "<b>Nats below mode 1</b> are differences of the bounds A_k: to the energy, a mode that is x nats below is exp(-x) "
    "times as probable as mode 1 (0.7: half, 2.3: a tenth, 7: a thousandth)."
)
COLORS = {
    "ramp": palette.RAMP,
    "scribbles": palette.SCRIBBLES,
    "same": palette.SAME,
    "changed": palette.CHANGED,
    "group": palette.GROUP,
}


def segmentation_page(
    posterior: MixturePosterior,
    image: ArrayLike,
    *,
    gap: ArrayLike | None = None,
    pixels: ArrayLike | None = None,
    scribbles: ArrayLike | None = None,
    names: Sequence[str] = (),
    title: str = "Segmentation",
) -> str:
    """The text of a self-contained HTML page about a segmentation.

    Parameters
    ----------
    posterior : over the pixels (H, W), or over superpixels.
    image : (H, W) or (H, W, channels), as for `mixfield.segment`.
    gap : (H, W) entropy gap in bits, see `mixfield.apps.entropy_gap`; without it, and if the posterior is calibrated,
        the page shows the entropy of the marginals.
    pixels : (H, W) the superpixel of each pixel, where the posterior is over superpixels.
    scribbles : (H, W) labels that were given, -1 where there were none.
    names : of the labels.
    title : heading of the page.
    """
    photo = displayed(image)
    view = pixel_posterior(posterior, (photo.shape[0], photo.shape[1]), pixels, names)
    step = sampling_step(photo.shape, VIEW_SIDE)
    doubt = doubt_of(posterior, gap, view.variables)
    given = None if scribbles is None else np.asarray(scribbles)
    facts = _facts(view, step) | {
        "photo": photo_uri(subsampled(photo, VIEW_SIDE)),
        "doubt": {"maximum": doubt.maximum, "text": TEXTS[doubt.kind]},
        "scribbles": given is not None,
        "unit": "pixel" if pixels is None else "superpixel",
    }
    return Page(
        title=title,
        kind="segmentation",
        lead=_lead(view, title),
        body=_body(view, _show_choices(doubt, given is not None)),
        facts=facts,
        planes=b"".join(plane.tobytes() for plane in _planes(view, step, doubt, given)),
    ).html()


def _facts(view: PixelPosterior, step: int) -> dict[str, Any]:
    """Sizes, labels, modes and the tree, as plain numbers for the script."""
    posterior, variables = view.posterior, view.variables[::step, ::step]
    colors = palette.label_colors()
    return {
        "height": variables.shape[0],
        "width": variables.shape[1],
        "step": step,
        "calibrated": posterior.calibration is not None,
        "labels": [{"name": view.name(v), "color": colors[v].tolist(), "value": v} for v in view.listed.tolist()],
        "modes": [
            {"weight": float(weight), "log_z": mode.log_z, "differs": float(differs)}
            for weight, mode, differs in zip(posterior.weights, posterior.modes, view.differing[0], strict=True)
        ],
        "colors": COLORS,
        "tree": tree_facts(
            posterior,
            lambda group: runs_of(np.flatnonzero(np.isin(variables, group))).ravel().tolist(),
            [view.name(v) for v in range(view.n_labels)],
        ),
    }


def _planes(view: PixelPosterior, step: int, doubt: Doubt, scribbles: NDArray[Any] | None) -> list[Bytes]:
    """All planes of the page, in the order in which ``static/segmentation.js`` reads them."""
    found = planes(view, view.variables[::step, ::step])
    levels = doubt.bits[::step, ::step] * (255 / doubt.maximum)
    found.append(np.rint(np.clip(levels, 0, 255)).astype(np.uint8))
    if scribbles is not None:
        found.append(indices_of(scribbles[::step, ::step], view.listed))
    return found


def _lead(view: PixelPosterior, title: str) -> str:
    weights = view.posterior.weights
    if is_without_doubt(view.posterior):
        return f"No doubt: one segmentation of {escape(title)}, no alternative is probable and different enough."
    if len(weights) == 1:
        return f"One segmentation of {escape(title)}: no other mode was found."
    calibrated = view.posterior.calibration is not None
    first = "mean field" if calibrated else "the first"
    explained = two_probabilities(calibrated, len(weights))
    return (
        f"{len(weights)} segmentations from the same evidence, each with its {weight_name(calibrated)}: {first} has "
        f"{percent(float(weights[0]))}, the next {percent(float(weights[1]))}. {explained} Two modes differ in up to "
        f"{percent(float(view.differing.max()))} of the pixels. "
        "Select a mode, compare it with another, point at a pixel."
    )


CONTROLS = """<fieldset class="row" id="show"><legend>Show</legend>{choices}</fieldset>
<div class="row" id="against-row" hidden><label for="against">compared with</label>
<select id="against">{options}</select></div>
<div class="row"><label for="opacity">opacity</label>
<input type="range" id="opacity" min="0" max="100" value="60"></div>"""


def _show_choices(doubt: Doubt, scribbles: bool) -> str:
    """Radio buttons for what the view shows."""
    choices = {"labels": "labels", "differ": "differences", "doubt": NAMES[doubt.kind]}
    choices |= {"scribbles": "scribbles"} if scribbles else {}
    choices["photo"] = "image alone"
    return "".join(
        f'<label><input type="radio" name="show" value="{value}"{" checked" * (value == "labels")}> {text}</label>'
        for value, text in choices.items()
    )


def _body(view: PixelPosterior, choices: str) -> str:
    count = range(len(view.posterior.modes))
    texts = about_modes(view.posterior, view.differing[0].tolist(), view.names)
    options = "".join(f'<option value="{k}">mode {k + 1}</option>' for k in count)
    return f"""<section class="two" aria-label="modes over the image">
<div><canvas id="view" tabindex="0" role="img"
 aria-label="the image with the selected mode; arrow keys move the pixel probe" aria-describedby="probe-text"></canvas>
{legend({v: view.name(v) for v in np.unique(view.labelings).tolist()})}
<ul class="keys" id="layer-keys" aria-label="colors of the layer" hidden></ul>
<p id="layer-text" aria-live="polite" hidden></p></div>
<div><fieldset id="modes"><legend>Modes</legend>{"".join(_mode_card(view, k, texts[k]) for k in count)}</fieldset>
{CONTROLS.format(options=options, choices=choices)}
<h2 id="probe-title">Pixel probe</h2>
<p id="probe-text" aria-live="polite">Point at the image, touch it, or move with the arrow keys.</p>
<div class="scroll"><table id="probe" aria-labelledby="probe-title" hidden><thead></thead><tbody></tbody></table></div>
</div></section>
{_pairs(view.differing)}
{tree_section(view.posterior)}
{_numbers(view)}"""


def _mode_card(view: PixelPosterior, k: int, about: str) -> str:
    """A mode to select: thumbnail, weight, what it is about, and its label map as a download."""
    weight = float(view.posterior.weights[k])
    link = png_uri(view.labelings[k].astype(np.uint8), pascal_palette())
    return (
        f'<div class="mode"><label><input type="radio" name="mode" value="{k}"{" checked" * (k == 0)}>'
        f'<canvas class="thumb" data-mode="{k}" aria-hidden="true"></canvas>'
        f'<span class="about"><b>mode {k + 1}</b> <span class="weight">{percent(weight)}</span>'
        f"{weight_bar(weight)}<small>{escape(about)}</small></span></label>"
        f'<a class="save" download="mode_{k + 1}.png" href="{link}" '
        f'aria-label="download the label map of mode {k + 1}">PNG</a></div>'
    )


def _pairs(differing: Floats) -> str:
    """The share of pixels in which two modes differ; each cell is a button that shows them."""
    count = len(differing)
    if count < 2:
        return ""
    rows = [
        [f"mode {a + 1}", *("" if a == b else _pair_button(a, b, differing[a, b]) for b in range(count))]
        for a in range(count)
    ]
    heads = ["", *(str(k + 1) for k in range(count))]
    pairs = html_table(heads, rows, caption="Pixels in which two modes differ")
    return section("pairs", "Pairs of modes", f"<p>Share of the pixels; select one to see them.</p>{pairs}")


def _pair_button(a: int, b: int, share: float) -> str:
    label = f"show where modes {a + 1} and {b + 1} differ"
    return f'<button type="button" data-pair="{a},{b}" aria-label="{label}">{percent(float(share))}</button>'


def _numbers(view: PixelPosterior) -> str:
    """The notes, and on demand the bounds and the weights of the energy."""
    posterior, rows = view.posterior, []
    for k, mode in enumerate(posterior.modes):
        present = ", ".join(map(view.name, np.unique(view.labelings[k])[:LISTED_LABELS].tolist()))
        shares = (percent(float(weights[k])) for weights in (posterior.weights, posterior.model_weights))
        behind = f"{posterior.modes[0].log_z - mode.log_z:.2f}"
        converged = "yes" if mode.converged else "no"
        rows.append((f"mode {k + 1}", *shares, behind, f"{mode.mass_inside:.6f}", converged, present))
    name = weight_name(posterior.calibration is not None)
    heads = ("", name, "weight by the energy", "nats below mode 1", "mass inside", "converged", "labels")
    caption = f"log Z~ = {posterior.log_z:.2f}, a lower bound; T_max = {posterior.t_max:.3g}"
    one_hot = f'<p class="note">{ONE_HOT}</p>' if posterior.is_one_hot else ""
    numbers = table(heads, rows, caption=caption)
    details = f"<details><summary>Bounds in nats, labels</summary><p>{NATS}</p>{one_hot}{numbers}</details>"
    return section("numbers", "Numbers", f"{notes(posterior.notes)}{details}")
