"""Items: stamps of their inputs."""

from __future__ import annotations

import os

from mixfield.batch import Item


def test_a_stamp_changes_with_size_and_time(tmp_path):
    file, missing = tmp_path / "a", tmp_path / "b"
    file.write_text("1")
    os.utime(file, ns=(0, 1000))
    item = Item("i", None, (file, missing))
    assert item.stamp() == [[1, 1000], None]
    os.utime(file, ns=(0, 2000))
    assert item.stamp() == [[1, 2000], None]
    file.write_text("22")
    assert item.stamp()[0][0] == 2
    assert Item("none", None).stamp() == []
