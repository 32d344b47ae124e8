"""OpenCV is imported at the first use."""

from __future__ import annotations

import sys

import pytest

from mixfield import _opencv
from mixfield.errors import MixfieldError


def test_the_module():
    assert _opencv.library() is pytest.importorskip("cv2")


def test_without_opencv_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(MixfieldError, match=r"mixfield\[people\]"):
        _opencv.library()
