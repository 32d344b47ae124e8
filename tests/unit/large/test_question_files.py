"""Files of local questions: a table, and outlines in the coordinates of the image."""

from __future__ import annotations

import csv
import json

import numpy as np
from local_questions import box, parts_of

from mixfield.large.geotiff import Georeference
from mixfield.large.question_files import write_geojson, write_table
from mixfield.large.regions import joined


def test_the_table(tmp_path):
    write_table(tmp_path / "q.csv", joined(parts_of(box(slice(5, 20), slice(20, 80)), new=2)))
    (row,) = csv.DictReader((tmp_path / "q.csv").read_text().splitlines())
    assert (row["old"], row["new"], row["probability"], row["pixels"]) == ("0", "2", "0.4", "900")
    assert (row["first"], row["last"], row["chosen"]) == ("5 20", "20 80", "False")


def test_outlines_have_the_area_of_the_region(tmp_path):
    place = Georeference("", (0.5, 0.0, 100.0, 0.0, -0.5, 200.0))
    write_geojson(tmp_path / "q.geojson", joined(parts_of(box(slice(5, 20), slice(20, 80)))), place)
    (feature,) = json.loads((tmp_path / "q.geojson").read_text())["features"]
    ((ring,),) = feature["geometry"]["coordinates"]
    x, y = np.array(ring).T
    area = abs(np.sum(x[:-1] * y[1:] - x[1:] * y[:-1])) / 2
    assert area == 0.25 * 900
    assert (x.min(), y.max()) == (110.0, 197.5)
