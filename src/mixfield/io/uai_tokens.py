"""The tokens of a UAI or libDAI file, and numbers beyond the range of float64.

A comment runs from ``#`` or ``//`` to the end of the line, or is a line that starts with the word ``c``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Decimal
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from mixfield.errors import FileFormatError

FloatArray = NDArray[np.float64]

SMALLEST = np.finfo(float).tiny
LOG_10 = math.log(10.0)
MAX_SHOWN = 40  # characters of a token in an error message
MAX_LENGTH = 400  # characters of a number that Python converts

_COMMENT = re.compile(r"#[^\n]*|//[^\n]*|^[ \t]*c(?:[ \t][^\n]*)?$", re.MULTILINE)
_INTEGER = re.compile(r"[+-]?[0-9]+")
_REAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]+)?|[+-]?inf|nan", re.IGNORECASE)
_Number = TypeVar("_Number", int, float)


class Tokens:
    """The tokens of a text, taken in order; errors name the file and the token."""

    def __init__(self, text: str, name: str) -> None:
        text = _COMMENT.sub(" ", text)
        self._words = text.split()
        self._name = name
        self._next = 0
        # int() and float() also accept 1_000 and digits of other scripts, which UAI files do not have
        self._is_plain = text.isascii() and "_" not in text

    @property
    def left(self) -> int:
        """Number of tokens that are left."""
        return len(self._words) - self._next

    def error(self, sentence: str) -> FileFormatError:
        """An error at this token."""
        return FileFormatError(f"{self._name}, token {self._next}: {sentence}")

    def keyword(self, *choices: str) -> None:
        """Take one of these words, in upper or lower case."""
        (word,) = self._take(1, " or ".join(choices))
        if word.upper() not in choices:
            raise self.error(f"expected {' or '.join(choices)}, got {word[:MAX_SHOWN]!r}")

    def count(self, what: str) -> int:
        """Take an integer that is not negative."""
        (number,) = self.integers(1, what)
        if number < 0:
            raise self.error(f"{what} must not be negative, got {readable(number)}")
        return number

    def integers(self, n: int, what: str) -> list[int]:
        """Take ``n`` integers."""
        return self._converted(self._take(n, what), int, _INTEGER, what)

    def reals(self, n: int, what: str) -> list[float]:
        """Take ``n`` numbers, which may be infinite or NaN."""
        return self._converted(self._take(n, what), float, _REAL, what)

    def costs(self, n: int, what: str) -> FloatArray:
        """Take ``n`` values and return (n,) -log of each, also of values beyond the range of float64."""
        return self._costs_of(self._take(n, what), what)

    def indexed_costs(self, n: int, what: str) -> tuple[list[int], FloatArray]:
        """Take ``n`` pairs of an index and a value; returns the indices and (n,) -log of each value, as `costs`."""
        words = self._take(2 * n, what)
        return self._converted(words[::2], int, _INTEGER, f"places of {what}"), self._costs_of(words[1::2], what)

    def _costs_of(self, words: list[str], what: str) -> FloatArray:
        """(n,) -log of each of these words."""
        values = np.array(self._converted(words, float, _REAL, what), float)
        invalid = np.flatnonzero(~(values >= 0.0))
        if invalid.size:
            place = invalid[0]
            raise self.error(f"{what} must not be negative or NaN, got {words[place][:MAX_SHOWN]} at place {place}")
        with np.errstate(divide="ignore"):
            costs: FloatArray = 0.0 - np.log(values)
        extreme = np.flatnonzero((values < SMALLEST) | (values == math.inf))
        cost_of = {word: self._cost_of(word, what) for word in {words[i] for i in extreme}}
        costs[extreme] = [cost_of[words[i]] for i in extreme]
        return costs

    def need(self, n: int, what: str) -> None:
        """Raise an error if fewer than ``n`` tokens are left; checked before anything is allocated."""
        if n > self.left:
            raise self.error(f"expected {what}, {readable(n)} tokens or more, but only {self.left} are left")

    def end(self) -> None:
        """Raise an error if tokens are left."""
        if self.left:
            first = self._words[self._next][:MAX_SHOWN]
            raise self.error(f"expected the end of the file, got {self.left} more tokens, {first!r} first")

    def _take(self, n: int, what: str) -> list[str]:
        self.need(n, what)
        self._next += n
        return self._words[self._next - n : self._next]

    def _converted(
        self, words: list[str], convert: Callable[[str], _Number], pattern: re.Pattern[str], what: str
    ) -> list[_Number]:
        try:
            if self._is_plain or all(map(pattern.fullmatch, words)):
                return list(map(convert, words))
        except ValueError:
            pass
        place, word = next(
            (i, word) for i, word in enumerate(words) if not pattern.fullmatch(word) or len(word) > MAX_LENGTH
        )
        raise self.error(f"{what} must be numbers, got {word[:MAX_SHOWN]!r} at place {place}") from None

    def _cost_of(self, word: str, what: str) -> float:
        """-log of a number from its decimal digits and exponent."""
        try:
            _, digits, exponent = Decimal(word).as_tuple()
        except ArithmeticError:
            exponent = "F"
        if isinstance(exponent, str):
            raise self.error(f"{what} must be finite, got {word[:MAX_SHOWN]}")
        if not any(digits):
            return math.inf
        mantissa = float(Decimal((0, digits, 1 - len(digits))))
        return -(math.log(mantissa) + (exponent + len(digits) - 1) * LOG_10)


def readable(number: int) -> str:
    """An integer in digits, or as a power of ten if it is large."""
    return str(number) if abs(number) < 10**15 else f"about {'-' if number < 0 else ''}10^{math.log10(abs(number)):.0f}"
