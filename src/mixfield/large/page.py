"""The page of a large segmentation: a view that can be moved and magnified, and the questions below it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os.path import relpath
from pathlib import Path
from typing import Any
from urllib.parse import quote

from mixfield import _files
from mixfield.errors import MixfieldError
from mixfield.io.documents import read_json
from mixfield.large.axes import matched
from mixfield.large.run import SUMMARY
from mixfield.large.sources import open_source
from mixfield.large.tiles import TILE, Pyramid
from mixfield.reports.data_uri import photo_uri
from mixfield.reports.page import Page, legend, number_of, percent, section, table
from mixfield.reports.png import encode_png

IN_PAGE = 100  # tiles that the page itself contains; with more they are files in a folder beside it
MOST = 6000  # tiles of a folder
QUESTIONS = 200  # rows of the table
NAMED = 20  # labels in the legend


def write_large_page(
    folder: Path, path: Path, *, image: Path | None = None, title: str | None = None, in_page: int = IN_PAGE
) -> list[Path]:
    """Write the page of a segmentation, and a folder of tiles beside it if there are many; returns both.

    Parameters
    ----------
    folder : ``<out>.blocks`` of `segment_large`.
    path : of the page.
    image : if it is not where it was; without any image, the labels are shown alone.
    title : heading; by default the name of the labels.
    in_page : largest number of tiles that the page contains.
    """
    facts = read_json(folder / SUMMARY)
    try:
        pyramid = _pyramid(folder.parent / facts["out"], image or facts["image"], facts["nodata"], in_page)
        shown = facts["questions"][:QUESTIONS]
        page = _page(title or facts["out"], facts, shown)
    except (KeyError, TypeError, AttributeError) as error:
        raise MixfieldError(f"{folder / SUMMARY} is damaged: {error} is missing") from None
    tiles = path.with_name(f"{path.stem}_tiles")
    is_small = pyramid.step == 1 and pyramid.most == in_page
    sources = _embedded(pyramid) if is_small else _written(pyramid, tiles, path.parent)
    view = {"levels": pyramid.levels, "tile": TILE, "step": pyramid.step, "shape": facts["shape"], "tiles": sources}
    windows = {"questions": [[one["first"], one["last"]] for one in shown]}
    finished = Page(page.title, page.kind, page.lead, page.body, view | windows, folder="" if is_small else tiles.name)
    _files.write_text(path, finished.html())
    return [path] if is_small else [path, tiles]


def _pyramid(out: Path, image: Any, nodata: int, in_page: int) -> Pyramid:
    """The tiles of labels and image: all of them if they fit into the page, else at most `MOST`."""
    labels = open_source("labels", out)
    if image is not None and Path(image).exists():
        pixels, over = matched(open_source("image", image), labels)
    else:
        pixels, over = matched(labels, labels)
    if len(over.shape) != 2:
        raise MixfieldError(f"a page shows images, {out.name} is a volume of shape {over.shape}")
    shown = None if pixels.source is labels else pixels
    small = Pyramid(over, shown, nodata, in_page)
    return small if small.step == 1 else Pyramid(over, shown, nodata, MOST)


def _embedded(pyramid: Pyramid) -> dict[str, str]:
    return {f"{tile.level}/{tile.row}_{tile.column}": photo_uri(tile.pixels) for tile in pyramid.tiles()}


def _written(pyramid: Pyramid, folder: Path, base: Path) -> str:
    """Write the tiles to a folder; returns its address relative to the page."""
    for tile in pyramid.tiles():
        place = folder / str(tile.level)
        place.mkdir(parents=True, exist_ok=True)
        _files.write_bytes(place / f"{tile.row}_{tile.column}.png", encode_png(tile.pixels))
    return quote(relpath(folder, base))


def _page(title: str, facts: Mapping[str, Any], shown: Sequence[Mapping[str, Any]]) -> Page:
    height, width = facts["shape"]
    count = len(facts["questions"])
    parts = ", ".join(number_of(number, noun) for number, noun in ((facts["labels"], "label"), (count, "question")))
    lead = f"{width} x {height} pixels in {number_of(facts['blocks'], 'block')}, {parts}"
    names = {label: f"label {label}" for label in range(min(facts["labels"], NAMED))}
    view = (
        '<canvas id="view" tabindex="0" width="1200" height="720" aria-label="the image with its labels; drag to move, '
        'turn the wheel or press + and - to magnify"></canvas>'
    )
    rows = [
        (
            k,
            f"label {one['old']} or {one['new']}?",
            percent(one["probability"]),
            one["pixels"],
            "yes" if one["chosen"] else "",
        )
        for k, one in enumerate(shown, 1)
    ]
    heads = ("", "question", "probability of the second", "pixels", "chosen")
    listed = table(heads, rows, caption=f"{len(rows)} of {number_of(count, 'question')}, the most useful first")
    body = section("overview", "Overview", legend(names) + view) + (
        section("asked", "Questions", listed) if rows else ""
    )
    return Page(title, "large", lead, body)
