"""Warnings of mixfield are ignored, others are not."""

from __future__ import annotations

import warnings

import pytest

from experiments.quiet import ignore_warnings
from mixfield.errors import NotConvergedWarning


def test_only_warnings_of_mixfield_are_ignored():
    with ignore_warnings():
        warnings.warn("late", NotConvergedWarning, stacklevel=1)
    with pytest.warns(UserWarning, match="other"), ignore_warnings():
        warnings.warn("other", UserWarning, stacklevel=1)
