"""Annotations of PETS 2009."""

from __future__ import annotations

import pytest

from experiments.people.cvml import read_cvml
from mixfield.errors import FileFormatError


def test_cvml(tmp_path):
    path = tmp_path / "a.xml"
    path.write_text(
        '<dataset><frame number="3"><objectlist><object id="9"><box h="4" w="2" xc="5" yc="6"/></object>'
        '</objectlist></frame><frame number="4"/></dataset>'
    )
    boxes = read_cvml(path)
    assert boxes[3].tolist() == [[9.0, 4.0, 4.0, 2.0, 4.0]]
    assert boxes[4].shape == (0, 5)
    path.write_text("<dataset><frame><object id='1'/></frame></dataset>")
    with pytest.raises(FileFormatError, match="has no box"):
        read_cvml(path)
    path.write_text("<dataset>")
    with pytest.raises(FileFormatError, match="not an XML file"):
        read_cvml(path)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("<dataset><frame number='1'><object id='1'><box w='1' h='1' xc='1'/></object></frame></dataset>", "'yc'"),
        ("<dataset><frame/></dataset>", "lacks the attribute 'number'"),
        ("<dataset><frame number='x'/></dataset>", "numbers are needed"),
    ],
)
def test_bad_annotations(tmp_path, text, complaint):
    (tmp_path / "a.xml").write_text(text)
    with pytest.raises(FileFormatError, match=complaint):
        read_cvml(tmp_path / "a.xml")
