"""Kernels as a TOML file."""

from __future__ import annotations

import pytest

from mixfield.apps.kernels import Kernels
from mixfield.errors import FileFormatError
from mixfield.io.kernels import read_kernels, write_kernels


def test_kernels_come_back(tmp_path):
    kernels = Kernels(sxy=33.0, srgb=5.5, weight=0.0)
    write_kernels(tmp_path / "k.toml", kernels)
    assert read_kernels(tmp_path / "k.toml") == kernels
    (tmp_path / "k.toml").write_text("[kernels]\nsxy = 20\n")
    assert read_kernels(tmp_path / "k.toml") == Kernels(sxy=20.0)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", r"k\.toml must have one table \[kernels\] with numbers named smooth_sxy"),
        ("nonsense", r"k\.toml is not a TOML file: Expected '='"),
        ("[kernels]\nsyx = 3", r"k\.toml must have one table \[kernels\] with numbers named smooth_sxy"),
        ("[kernels]\nsxy = -3", r"k\.toml: sxy must be a finite number above 0, got -3"),
        ('[kernels]\nsxy = "3"', r"k\.toml: sxy must be a finite number above 0, got '3'"),
    ],
)
def test_kernels_that_are_none(tmp_path, text, complaint):
    (tmp_path / "k.toml").write_text(text)
    with pytest.raises(FileFormatError, match=complaint):
        read_kernels(tmp_path / "k.toml")
