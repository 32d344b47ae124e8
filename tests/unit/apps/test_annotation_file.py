"""Files of annotations: what is written is read, and damage is said."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixfield.apps import annotation_file
from mixfield.errors import FileFormatError, MixfieldError
from mixfield.interactive.annotation_actions import Answer, Choice, Stroke

SHAPE, NAMES = (6, 8), ("background", "cat", "dog")


def actions():
    rng = np.random.default_rng(0)
    differ = rng.random((3, 4)) < 0.5
    return [
        Stroke(((0.5, 1.25), (3.0, 2.0)), 1, 2.5),
        Stroke(((4.0, 4.0),), -1, 1.0, rng.integers(0, 3, (3, 4))),
        Choice(rng.integers(0, 3, SHAPE).astype(np.uint8), differ, rng.integers(0, 3, (3, 4))),
        Answer(differ, 2, rng.integers(0, 3, (3, 4))),
    ]


def test_round_trip(tmp_path):
    path = tmp_path / "a.json"
    annotation_file.write(path, NAMES, SHAPE, actions())
    names, shape, found = annotation_file.read(path)
    assert (names, shape) == (NAMES, SHAPE)
    assert found[:2] == tuple(actions()[:2])
    for name in ("labels", "differ", "reduced"):
        np.testing.assert_array_equal(getattr(found[2], name), getattr(actions()[2], name))
    assert found[2].labels.dtype == np.uint8
    np.testing.assert_array_equal(found[3].region, actions()[3].region)
    assert found[3].label == 2
    assert found[0].shown is None
    for k in (1, 3):
        np.testing.assert_array_equal(found[k].shown, actions()[k].shown)


@pytest.mark.parametrize(
    "change",
    [
        {"format": "other"},
        {"version": 2},
        {"version": None},
        {"labels": ["one"]},
        {"labels": ["a", "a"]},
        {"labels": [1, 2]},
        {"shape": [6]},
        {"shape": [6, -8]},
        {"shape": [1 << 20, 1 << 20]},
        {"shape": "68"},
        {"actions": [{"stroke": [], "label": 0, "radius": 1}]},
        {"actions": [{"stroke": [[1]], "label": 0, "radius": 1}]},
        {"actions": [{"stroke": [[1, 1e999]], "label": 0, "radius": 1}]},
        {"actions": [{"stroke": [[1, 1]], "label": 3, "radius": 1}]},
        {"actions": [{"stroke": [[1, 1]], "label": True, "radius": 1}]},
        {"actions": [{"stroke": [[1, 1]], "label": 0, "radius": 0}]},
        {"actions": [{"answer": [1, 48], "size": [60, 80], "label": 0}]},
        {"actions": [{"answer": [1, 47], "size": [6, 8], "label": 0}]},
        {"actions": [{"answer": [2, 48], "size": [6, 8], "label": 0}]},
        {"actions": [{"answer": [1, 48, 0], "size": [6, 8], "label": 0}]},
        {"actions": [{"answer": [1, -1, 0, 49], "size": [6, 8], "label": 0}]},
        {"actions": [{"answer": [1, 48], "size": [6, 8], "label": 0}]},
        {"actions": [{"stroke": [[1, 1]], "label": 0, "radius": 1, "shown": [3, 48], "size": [6, 8]}]},
        {"actions": [{"stroke": [[1, 1]], "label": 0, "radius": 1, "shown": [1, 48]}]},
        {"actions": [{"unknown": 1}]},
        {"actions": 7},
    ],
)
def test_damage_is_said(change, tmp_path):
    path = tmp_path / "a.json"
    annotation_file.write(path, NAMES, SHAPE, actions())
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(FileFormatError, match=r"a\.json"):
        annotation_file.read(path)


@given(draws=st.data())
def test_any_cut_or_flipped_byte_is_read_or_refused(tmp_path_factory, draws):
    path = tmp_path_factory.mktemp("files") / "a.json"
    annotation_file.write(path, NAMES, SHAPE, actions())
    content = bytearray(path.read_bytes())
    place = draws.draw(st.integers(0, len(content) - 1))
    if draws.draw(st.booleans()):
        content = content[:place]
    else:
        content[place] = draws.draw(st.integers(0, 255))
    path.write_bytes(bytes(content))
    try:
        names, shape, found = annotation_file.read(path)
    except MixfieldError:
        return
    assert len(names) >= 2
    assert len(shape) == 2
    assert all(isinstance(one, Stroke | Choice | Answer) for one in found)
