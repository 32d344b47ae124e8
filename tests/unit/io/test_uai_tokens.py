"""Tokens of UAI files: taken in order; errors name the token."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest

from mixfield.errors import FileFormatError
from mixfield.io.uai_tokens import Tokens, readable


def test_tokens_are_taken_in_order():
    tokens = Tokens("MARKOV 3 # a comment\nc another\n 1 2 0.5 inf // end", "x")
    tokens.keyword("MARKOV", "BAYES")
    assert tokens.count("n") == 3
    assert tokens.integers(2, "labels") == [1, 2]
    assert tokens.reals(2, "values") == [0.5, math.inf]
    assert tokens.left == 0
    tokens.end()


def test_costs_are_minus_log_beyond_the_range_of_float64():
    costs = Tokens("1 0 1e-400 2e400 5e-324", "x").costs(5, "values")
    ln10 = math.log(10)
    expected = [0.0, math.inf, 400 * ln10, -400 * ln10 - math.log(2), 324 * ln10 - math.log(5)]
    np.testing.assert_allclose(costs, expected, rtol=1e-15)


@pytest.mark.parametrize(
    ("text", "take", "message"),
    [
        ("1", lambda t: t.need(2, "two numbers"), "x, token 0: expected two numbers, 2 tokens or more, but only 1"),
        ("a b", lambda t: (t.keyword("A"), t.end()), "token 1: expected the end of the file, got 1 more tokens, 'b'"),
        ("-1", lambda t: t.costs(1, "values"), "token 1: values must not be negative or NaN, got -1 at place 0"),
        ("1_0", lambda t: t.integers(1, "n"), "n must be numbers, got '1_0' at place 0"),
    ],
)
def test_errors_name_the_token(text, take, message):
    with pytest.raises(FileFormatError, match=message):
        take(Tokens(text, "x"))


def test_large_integers_are_readable():
    assert readable(12) == "12"
    assert readable(-(10**20)) == "about -10^20"


def test_a_long_word_is_refused_at_once():
    started = time.process_time()
    with pytest.raises(FileFormatError, match="must be numbers, got '1111"):
        Tokens("1" * 200_000 + "x", "a.uai").reals(1, "values")
    assert time.process_time() - started < 1.0


@pytest.mark.parametrize("word", ["1", "+1.", "-.5", "1.5", "0.5e-3", "1E5", "INF", "-inf", "nan"])
def test_numbers_that_are_read(word):
    assert repr(Tokens(f"{word} é", "a.uai").reals(1, "values")) == repr([float(word)])


@pytest.mark.parametrize("word", [".", "1e", "e5", "1_0", "0x1", "1.2.3", "infinity", "--1", "é"])
def test_words_that_are_no_numbers(word):
    with pytest.raises(FileFormatError, match="must be numbers, got"):
        Tokens(f"{word} é", "a.uai").reals(1, "values")
