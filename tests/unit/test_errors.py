"""Errors as sentences."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from mixfield.errors import FileFormatError, sentence


def test_the_words_of_the_system_without_their_number(tmp_path):
    with pytest.raises(OSError) as caught:
        open(tmp_path / "absent")  # noqa: SIM115
    assert sentence(caught.value) == f"{tmp_path / 'absent'}: no such file or directory"


def test_a_file_name_cannot_control_the_terminal():
    assert sentence(FileNotFoundError(2, "No such file", "a\x1b[2J\n")) == r"a\x1b[2J\n: no such file"
    assert len(sentence(OSError(36, "File name too long", "x" * 5000))) < 1000


def test_too_little_memory():
    assert sentence(MemoryError()) == "there is not enough memory"
    with pytest.raises(MemoryError) as caught:
        np.zeros(1 << 55)
    assert sentence(caught.value).startswith("there is not enough memory: Unable to allocate")


def test_other_errors():
    assert sentence(ValueError("wrong")) == "wrong"
    assert sentence(KeyError()) == "KeyError"


def test_a_message_that_quotes_a_file_is_short_and_printable():
    error = FileFormatError("a.pom, line 3: got \x1b[2J\n" + 5000 * "x" + " at the end")
    assert str(error).startswith(r"a.pom, line 3: got \x1b[2J\n" + "xxx")
    assert str(error).endswith("xxx at the end")
    assert len(str(error)) < 1000
    assert str(error).isprintable()
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
