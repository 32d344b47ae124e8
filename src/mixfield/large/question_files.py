"""Local questions as files: a table (.csv), outlines for maps (.geojson)."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mixfield import _files
from mixfield.large.geotiff import Georeference
from mixfield.large.regions import LocalQuestion

COLUMNS = ("question", "old", "new", "probability", "pixels", "complete", "chosen", "first", "last", "blocks")


def write_table(path: Path, found: Sequence[LocalQuestion]) -> None:
    """Write one line per question; ``first`` and ``last`` are corners of its window, row (or depth) first."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS)
    table.writerows(_row(k, one) for k, one in enumerate(found, 1))
    _files.write_text(path, text.getvalue())


def write_geojson(path: Path, found: Sequence[LocalQuestion], place: Georeference) -> None:
    """Write the outlines of the regions in the coordinates of the image, one feature per question."""
    features = [
        {
            "type": "Feature",
            "properties": dict(zip(COLUMNS, _row(k, one), strict=True)),
            "geometry": _outline(one, place),
        }
        for k, one in enumerate(found, 1)
    ]
    collection: dict[str, Any] = {"type": "FeatureCollection", "features": features}
    if place.crs:
        collection["crs_wkt"] = place.crs
    _files.write_text(path, json.dumps(collection) + "\n")


def _row(number: int, one: LocalQuestion) -> tuple[Any, ...]:
    """The cells of a question; lists are numbers or names with spaces between."""
    facts = one.facts() | {"question": number, "probability": round(one.probability, 4)}
    cells = (facts[name] for name in COLUMNS)
    return tuple(" ".join(map(str, cell)) if isinstance(cell, list) else cell for cell in cells)


def _outline(one: LocalQuestion, place: Georeference) -> dict[str, Any]:
    """The pixels of a region as polygons."""
    from mixfield.large.geotiff import rasterio

    rasterio()
    from rasterio import features

    top, left = (along.start for along in one.window)
    region = one.region
    polygons = [shape["coordinates"] for shape, _ in features.shapes(region.astype(np.uint8), mask=region)]
    return {
        "type": "MultiPolygon",
        "coordinates": [
            [[place.position(left + column, top + row) for column, row in ring] for ring in rings] for rings in polygons
        ],
    }
