"""The page of a segmentation: modes over the image, where they differ, what each pixel says, and the tree of cuts."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixfield import _arrays
from mixfield.errors import MixfieldError
from mixfield.io.images import palette
from mixfield.mixture.posterior import MixturePosterior
from mixfield.reports import cuts
from mixfield.reports.colours import bright, key
from mixfield.reports.page import Page, notes, percent, table
from mixfield.reports.png import data_uri, indexed_png, photo_uri, smaller
from mixfield.reports.segmentation import displayed

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

SIDE = 1024  # pixels of the longer side that the page draws; downloads have them all
VISIBLE = 0.02  # labels that reach this probability somewhere are listed by the pixel probe


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
    """The text of a self-contained HTML page.

    Parameters
    ----------
    posterior : over the pixels (H, W), or over anything that ``pixels`` maps to pixels.
    image : (H, W) or (H, W, channels), as for `mixfield.segment`.
    gap : (H, W) bits that the commitment of the heaviest mode hides, see `mixfield.entropy_gap`.
    pixels : (H, W) the variable of each pixel, where the posterior is about superpixels.
    scribbles : (H, W) labels that were given, -1 where there were none.
    names : of the labels.
    title : heading of the page.
    """
    picture = displayed(image)
    height, width = picture.shape[:2]
    where = _variables(posterior, (height, width), pixels)
    n_labels = posterior.modes[0].marginals.shape[-1]
    if n_labels > 256:
        raise MixfieldError(f"a page shows at most 256 labels, got {n_labels}")
    labelings = np.stack([mode.labeling().ravel()[where] for mode in posterior.modes])
    step = -(-max(height, width) // SIDE)
    small = where[::step, ::step]
    shown = _shown_labels(posterior)
    called = [names[v] if v < len(names) else f"label {v}" for v in range(n_labels)]
    weights = posterior.weights
    differ = (labelings[:, None] != labelings[None]).mean((2, 3))
    facts = {
        "height": small.shape[0],
        "width": small.shape[1],
        "step": step,
        "labels": [{"name": called[v], "colour": bright()[v].tolist(), "value": v} for v in shown.tolist()],
        "modes": [
            {"weight": float(weights[k]), "log_z": mode.log_z, "differs": float(differ[0, k])}
            for k, mode in enumerate(posterior.modes)
        ],
        "photo": photo_uri(smaller(picture, SIDE)),
        "gap": None if gap is None else float(max(1.0, np.max(gap))),
        "scribbles": scribbles is not None,
        "unit": "pixel" if pixels is None else "superpixel",
        "tree": cuts.facts(posterior, lambda group: _runs(np.isin(small.ravel(), group)), called),
    }
    planes = [*_label_planes(posterior, small, shown), *_probability_planes(posterior, small, shown)]
    if gap is not None:
        scaled = np.asarray(gap, np.float64)[::step, ::step] * (255 / facts["gap"])
        planes.append(np.rint(np.clip(scaled, 0, 255)).astype(np.uint8))
    if scribbles is not None:
        planes.append(_positions(np.asarray(scribbles)[::step, ::step], shown))
    return Page(
        title=title,
        kind="segmentation",
        lead=_lead(weights, differ, title),
        body=_body(posterior, labelings, differ, called, shown, _choices(gap is not None, scribbles is not None)),
        facts=facts,
        planes=b"".join(plane.tobytes() for plane in planes),
    ).html()


def _variables(posterior: MixturePosterior, shape: tuple[int, int], pixels: ArrayLike | None) -> Ints:
    """(H, W) variable of each pixel."""
    n = int(np.prod(posterior.shape))
    if pixels is None:
        if posterior.shape != shape:
            raise MixfieldError(
                f"image must have the size of the posterior, {posterior.shape}, got {shape}; "
                "give the image that was segmented"
            )
        return np.arange(n).reshape(shape)
    where = _arrays.integers("pixels", pixels, low=0, high=n)
    _arrays.check_shape("pixels", where, shape, "= height and width of the image")
    return where


def _shown_labels(posterior: MixturePosterior) -> Ints:
    peaks = np.max([mode.marginals.reshape(-1, mode.marginals.shape[-1]).max(0) for mode in posterior.modes], axis=0)
    return np.flatnonzero(peaks >= VISIBLE)


def _positions(labels: NDArray[np.integer], shown: Ints) -> NDArray[np.uint8]:
    """Labels as places in ``shown``, 255 for others."""
    table = np.full(257, 255, np.uint8)
    table[shown] = np.arange(len(shown))
    return table[np.where((labels >= 0) & (labels < 256), labels, 256)]


def _label_planes(posterior: MixturePosterior, where: Ints, shown: Ints) -> list[NDArray[np.uint8]]:
    """For each mode the places of its labels in ``shown``; all but the first as differences from it, mostly zero."""
    return _from_first([_positions(mode.labeling().ravel(), shown)[where] for mode in posterior.modes])


def _probability_planes(posterior: MixturePosterior, where: Ints, shown: Ints) -> list[NDArray[np.uint8]]:
    """For each label the probabilities in each mode, in 255ths; all but the first as differences from it."""
    planes: list[NDArray[np.uint8]] = []
    for label in shown.tolist():
        levels = [np.rint(255 * mode.marginals[..., label]).astype(np.uint8).ravel() for mode in posterior.modes]
        planes += _from_first([level[where] for level in levels])
    return planes


def _from_first(planes: list[NDArray[np.uint8]]) -> list[NDArray[np.uint8]]:
    return [planes[0], *(plane - planes[0] for plane in planes[1:])]


def _runs(chosen: NDArray[np.bool_]) -> list[int]:
    """Start, length, start, length, ... of the places that are chosen."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], chosen, [False]]).astype(np.int8)))
    starts, ends = edges[::2], edges[1::2]
    return np.stack([starts, ends - starts], axis=1).ravel().tolist()


def _lead(weights: Floats, differ: Floats, title: str) -> str:
    if len(weights) == 1:
        return f"One interpretation of {escape(title)}: the evidence leaves no other that stands."
    share = percent(float(differ.max()))
    return (
        f"{len(weights)} complete interpretations of the same evidence, each with its probability: the likeliest has "
        f"{percent(float(weights[0]))}, the next {percent(float(weights[1]))}. Two of them differ in {share} of the "
        "pixels. Choose one, compare it, point at a pixel."
    )


CONTROLS = """<fieldset class="row" id="show"><legend>Show</legend>{choices}</fieldset>
<div class="row" id="against-row" hidden><label for="against">compared with</label>
<select id="against">{others}</select></div>
<div class="row"><label for="opacity">opacity</label>
<input type="range" id="opacity" min="0" max="100" value="60"></div>"""


def _choices(gap: bool, scribbles: bool) -> str:
    """What the viewer can show."""
    choices = {"labels": "labels", "differ": "what differs"}
    choices |= {"gap": "hidden doubt"} if gap else {}
    choices |= {"scribbles": "what was given"} if scribbles else {}
    choices["photo"] = "image alone"
    return "".join(
        f'<label><input type="radio" name="show" value="{value}"{" checked" * (value == "labels")}> {text}</label>'
        for value, text in choices.items()
    )


def _body(
    posterior: MixturePosterior, labelings: Ints, differ: Floats, names: Sequence[str], shown: Ints, choices: str
) -> str:
    numbers = range(len(posterior.modes))
    cards = []
    for k in numbers:
        weight, link = float(posterior.weights[k]), data_uri(indexed_png(labelings[k].astype(np.uint8), palette()))
        change = f"differs from mode 1 in {percent(float(differ[0, k]))} of the pixels" if k else "the likeliest"
        cards.append(
            f'<div class="mode"><label><input type="radio" name="mode" value="{k}"{" checked" * (k == 0)}>'
            f'<canvas class="thumb" data-mode="{k}" aria-hidden="true"></canvas>'
            f'<span class="about"><b>mode {k + 1}</b> <span class="weight">{percent(weight)}</span>'
            f'<span class="bar" aria-hidden="true"><i style="width:{100 * weight:.2f}%"></i></span>'
            f"<small>{change}</small></span></label>"
            f'<a class="save" download="mode_{k + 1}.png" href="{link}" '
            f'aria-label="download the label map of mode {k + 1}">PNG</a></div>'
        )
    keys = "".join(key(v, escape(names[v])) for v in shown.tolist())
    controls = CONTROLS.format(
        others="".join(f'<option value="{k}">mode {k + 1}</option>' for k in numbers),
        choices=choices,
    )
    return f"""<section class="two" aria-label="modes over the image">
<div><canvas id="view" tabindex="0" role="img"
 aria-label="the image with the chosen mode; arrow keys move the pixel probe" aria-describedby="probe-text"></canvas>
<ul class="keys" aria-label="labels">{keys}</ul></div>
<div><fieldset id="modes"><legend>Interpretations</legend>{"".join(cards)}</fieldset>{controls}
<h2 id="probe-title">What a pixel says</h2>
<p id="probe-text" aria-live="polite">Point at the image, touch it, or move with the arrow keys.</p>
<div class="scroll"><table id="probe" aria-labelledby="probe-title" hidden><thead></thead><tbody></tbody></table></div>
</div></section>
{_pairs(differ)}
{cuts.section(posterior)}
{_numbers(posterior, labelings, names)}"""


def _pairs(differ: Floats) -> str:
    """How much any two modes differ; each cell is a button that shows where."""
    if len(differ) < 2:
        return ""
    count = len(differ)
    top = "".join(f'<th scope="col">{k + 1}</th>' for k in range(count))
    rows = []
    for a in range(count):
        cells = "".join(
            "<td></td>"
            if a == b
            else f'<td><button type="button" data-pair="{a},{b}" '
            f'aria-label="show where modes {a + 1} and {b + 1} differ">'
            f"{percent(float(differ[a, b]))}</button></td>"
            for b in range(count)
        )
        rows.append(f'<tr><th scope="row">mode {a + 1}</th>{cells}</tr>')
    return (
        '<section aria-labelledby="pairs"><h2 id="pairs">Where they differ</h2><p>Share of the pixels; press one to '
        f'see them.</p><div class="scroll"><table class="pairs"><caption>Pixels in which two modes differ</caption>'
        f"<thead><tr><td></td>{top}</tr></thead><tbody>{''.join(rows)}</tbody></table></div></section>"
    )


def _numbers(posterior: MixturePosterior, labelings: Ints, names: Sequence[str]) -> str:
    rows: list[tuple[object, ...]] = []
    for k, (weight, mode) in enumerate(zip(posterior.weights, posterior.modes, strict=True)):
        present = ", ".join(names[v] for v in np.unique(labelings[k])[:8].tolist())
        behind = posterior.modes[0].log_z - mode.log_z
        settled = "yes" if mode.converged else "no"
        rows.append(
            (f"mode {k + 1}", percent(float(weight)), f"{behind:.2f}", f"{mode.mass_inside:.6f}", settled, present)
        )
    heads = ("", "weight", "nats behind", "mass inside", "converged", "labels")
    caption = f"The modes in numbers. log Z~ = {posterior.log_z:.2f}, a lower bound; T_max = {posterior.t_max:.3g}"
    return (
        '<section aria-labelledby="numbers"><h2 id="numbers">Numbers</h2>'
        f"{table(heads, rows, caption=caption)}{notes(posterior.notes)}</section>"
    )
