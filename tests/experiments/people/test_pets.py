"""PETS 2009: annotations and folders."""

from __future__ import annotations

import pytest

from experiments.people.pets import AREA, Pets, recordings
from mixfield.errors import MixfieldError


def test_annotated_people_stand_in_the_area(data):
    people = Pets(data / "people" / "pets09-s2l1").people([0, 399])
    for identity, feet in people.values():
        assert len(identity) == len(feet) > 0
        assert (feet >= AREA[:2]).all()
        assert (feet <= AREA[2:]).all()


def test_folders(tmp_path):
    (tmp_path / "people" / "pets09-s2l1").mkdir(parents=True)
    first, second = recordings(tmp_path)
    assert (first.views, second.views) == ((1,), (1, 8))
    assert second.posterior_folder(tmp_path) == tmp_path / "views-1-8"


def test_a_missing_recording_is_named(tmp_path):
    with pytest.raises(MixfieldError, match="set MIXFIELD_DATA"):
        recordings(tmp_path)
