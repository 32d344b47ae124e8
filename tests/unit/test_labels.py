"""What a label is called."""

from __future__ import annotations

import pytest

from mixfield._labels import label_name


@pytest.mark.parametrize(
    ("label", "names", "name"), [(1, ("sky", "sea"), "sea"), (2, ("sky", "sea"), "label 2"), (0, (), "label 0")]
)
def test_a_label_has_its_name_or_its_number(label, names, name):
    assert label_name(label, names) == name
