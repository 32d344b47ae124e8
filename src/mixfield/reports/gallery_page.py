"""The page of a folder of segmented images: one card per image, the most doubtful first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from mixfield._labels import label_name
from mixfield.errors import FileFormatError
from mixfield.io.documents import read_json
from mixfield.io.images import read_image, read_label_map
from mixfield.io.names import first_names
from mixfield.reports.about import two_probabilities, weight_name
from mixfield.reports.data_uri import photo_uri, subsampled
from mixfield.reports.doubt import expected_error_of_modes
from mixfield.reports.page import Page, html_table, legend, number_of, percent, section
from mixfield.reports.segmentation import IMAGE, NAMES, RESULT, SUMMARY
from mixfield.reports.segmentation_figure import changed_overlay, displayed, label_overlay

Progress = Callable[[int, int], None]

THUMB_SIDE = 320  # pixels
MAX_CARDS = 120  # images with thumbnails; the others are in the table only


@dataclass(frozen=True)
class SegmentedImage:
    """A result of `mixfield segment` in a folder, by its summary.

    Attributes
    ----------
    folder : with ``image.png``, ``mode_1.png`` and so on.
    weights, differs : of each mode: its weight, and the share of pixels in which it differs from mode 1.
    labels : that occur in any mode.
    about : what the second mode is about, empty where there is none or the summary does not say it.
    doubt : `expected_error` of the posterior.
    by_modes : whether ``doubt`` is that of the modes instead, as the summary is of an earlier version.
    calibrated : whether the weights are.
    without_doubt : alternatives were looked for, and none is worth a slot.
    """

    folder: Path
    weights: tuple[float, ...]
    differs: tuple[float, ...]
    labels: tuple[int, ...]
    about: str
    doubt: float
    by_modes: bool
    calibrated: bool
    without_doubt: bool

    @property
    def order(self) -> tuple[float, float, str]:
        """Key that sorts doubtful images first; equal doubt by the largest difference, then by name."""
        return -self.doubt, -max(self.differs), self.folder.name


def segmented_images(folder: Path) -> list[SegmentedImage]:
    """The results in the subfolders of a folder, most doubtful first."""
    found = [_read_summary(path.parent) for path in folder.glob(f"*/{RESULT}")]
    return sorted(found, key=lambda image: image.order)


def _read_summary(folder: Path) -> SegmentedImage:
    path = folder / SUMMARY
    content = read_json(path)
    try:
        modes = content["modes"]
        weights = tuple(float(weight) for weight in content["weights"])
        differs = tuple(float(mode["differs"]) for mode in modes)
        by_modes = expected_error_of_modes(weights, differs)
        return SegmentedImage(
            folder,
            weights,
            differs,
            labels=tuple(sorted({int(label) for mode in modes for label in mode["labels"]})),
            about=str(modes[1].get("about", "")) if len(modes) > 1 else "",
            doubt=float(content.get("doubt", by_modes)),
            by_modes="doubt" not in content,
            calibrated=bool(content.get("calibrated", False)),
            without_doubt=bool(content.get("without_doubt", False)),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise FileFormatError(f"{path} is not the summary of a segmentation: {error}") from None


def gallery_page(folder: Path, *, title: str, progress: Progress | None = None) -> str:
    """The text of a self-contained HTML page about all results in the subfolders of ``folder``.

    Parameters
    ----------
    folder : of `mixfield segment` on a folder of images.
    title : heading of the page.
    progress : called with the number of images done and the number of all.
    """
    images = segmented_images(folder)
    names = first_names(image.folder / NAMES for image in images)
    cards = []
    for done, image in enumerate(images[:MAX_CARDS], 1):
        cards.append(_card(image))
        if progress is not None:
            progress(done, min(len(images), MAX_CARDS))
    labels = sorted({label for image in images for label in image.labels})
    key = legend({label: label_name(label, names) for label in labels})
    body = f'<section aria-label="images">{key}<div class="gallery">{"".join(cards)}</div></section>{_table(images)}'
    return Page(title=title, kind="gallery", lead=_lead(images), body=body).html()


def _lead(images: Sequence[SegmentedImage]) -> str:
    sure = sum(image.without_doubt for image in images)
    explained = two_probabilities(any(i.calibrated for i in images), max(len(i.weights) for i in images))
    earlier = "For results of earlier versions, it is the share in which each mode differs, times its weight. "
    return (
        f"{number_of(len(images), 'image')}, the most doubtful first; {sure} without doubt, with one mode. "
        "<b>Doubt</b> is the share of pixels whose label is expected to be another than in mode 1: 1 minus the "
        f"probability of that label, averaged over the pixels. {earlier * any(i.by_modes for i in images)}{explained}"
    )


def _card(image: SegmentedImage) -> str:
    """The image with mode 1, and where the next mode differs."""
    name = escape(image.folder.name)
    photo = displayed(read_image(image.folder / IMAGE))
    first = read_label_map(image.folder / "mode_1.png").astype(np.int64)
    pictures = [_figure(label_overlay(photo, first), f"mode 1, {percent(image.weights[0])}", name)]
    if len(image.weights) > 1:
        second = read_label_map(image.folder / "mode_2.png").astype(np.int64)
        caption = f"mode 2, {percent(image.weights[1])}: {escape(image.about) or 'where it differs'}"
        pictures.append(_figure(changed_overlay(photo, second != first), caption, name))
    return (
        f'<article class="card"><h2>{name}</h2>'
        f"<p>{_doubt(image)} · {_links(image)}</p>"
        f'<div class="pictures">{"".join(pictures)}</div></article>'
    )


def _doubt(image: SegmentedImage) -> str:
    count = len(image.weights)
    one = "no doubt" if image.without_doubt else "one mode"
    return f"doubt {percent(image.doubt)}; {count} modes" if count > 1 else one


def _figure(picture: NDArray[np.uint8], caption: str, name: str) -> str:
    uri = photo_uri(subsampled(picture, THUMB_SIDE))
    return f'<figure><img src="{uri}" alt="{name}, {caption}"><figcaption>{caption}</figcaption></figure>'


def _links(image: SegmentedImage) -> str:
    """Links to the page of an image, if it was made, and to its figure; relative to the folder of the gallery."""
    targets = {"page": "report.html", "figure": "figure.png"}
    return " · ".join(
        f'<a href="{quote(f"{image.folder.name}/{file}")}">{text}</a>'
        for text, file in targets.items()
        if (image.folder / file).is_file()
    )


def _table(images: Sequence[SegmentedImage]) -> str:
    rows = [
        (
            escape(image.folder.name),
            percent(image.doubt),
            str(len(image.weights)),
            percent(image.weights[0]),
            percent(max(image.differs)),
            _links(image),
        )
        for image in images
    ]
    weight = weight_name(all(image.calibrated for image in images))
    heads = ("image", "doubt", "modes", f"{weight} of mode 1", "largest difference", "files")
    return section("all", "All images", html_table(heads, rows, caption="All images, the most doubtful first"))
