"""Graphical models, evidence and answers in the text formats of the UAI inference competitions.

A model file holds probabilities or weights, an energy holds costs: a value v is the cost -log v, and 0 is +inf.
Numbers too small or too large for a float64, such as ``1e-400``, are read and written in full; programs that read
doubles see 0 or infinity there.  A comment runs from ``#`` or ``//`` to the end of the line, or is a line that starts
with the word ``c``.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from mixfield import _files
from mixfield.energy.factor_graph import FactorGraph
from mixfield.errors import FileFormatError, MixfieldError

FloatArray = NDArray[np.float64]
Factor = tuple[tuple[int, ...], FloatArray]
StrPath = str | os.PathLike[str]

_COMMENT = re.compile(r"#[^\n]*|//[^\n]*|^[ \t]*c(?:[ \t][^\n]*)?$", re.MULTILINE)
_INTEGER = re.compile(r"[+-]?[0-9]+")
_REAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|[+-]?inf|nan", re.IGNORECASE)
_SMALLEST = np.finfo(float).tiny
_LOG_10 = math.log(10.0)
_Number = TypeVar("_Number", int, float)


class _HasFactors(Protocol):
    @property
    def label_counts(self) -> NDArray[np.integer[Any]]: ...

    def factors(self) -> Sequence[tuple[tuple[int, ...], NDArray[np.floating[Any]]]]: ...


def read_uai(path: StrPath, evidence: StrPath | Mapping[int, int] | None = None) -> FactorGraph:
    """Read a model in UAI format, ``MARKOV`` or ``BAYES``.

    Parameters
    ----------
    path : the model file.
    evidence : an evidence file, or observed labels ``{variable: label}``; the model is conditioned on them.

    Returns
    -------
    FactorGraph
        The model with every table as costs; each table of a ``BAYES`` file is one factor.
    """
    label_counts, factors = parse_uai(_text_of(path), str(path))
    graph = FactorGraph.from_factors(label_counts, factors)
    if evidence is None:
        return graph
    if isinstance(evidence, Mapping):
        return graph.condition(dict(evidence))
    observed = read_evidence(evidence)
    for variable, label in observed.items():
        labels_there = label_counts[variable] if variable < len(label_counts) else 0
        if label >= labels_there:
            raise FileFormatError(
                f"{evidence}: label {label} of variable {variable} does not exist, in {path} it has {labels_there}"
            )
    return graph.condition(observed)


def write_uai(path: StrPath, energy: _HasFactors) -> None:
    """Write an energy that is a sum of tables as a ``MARKOV`` file, in one step: never half a file under this name.

    Notes
    -----
    Each value exp(-cost) is written with 15 digits if these give back the very same cost, otherwise with all 17, so
    that reading the file restores costs to within rounding: 1e-15 of max(1, abs(cost)).  A constant becomes a factor
    over no variables.
    """
    if not hasattr(energy, "factors"):
        raise MixfieldError(
            f"write_uai needs 'factors', {type(energy).__name__} does not provide it: only sums of tables fit"
        )
    factors = energy.factors()
    lines = ["MARKOV", str(len(energy.label_counts)), " ".join(str(int(count)) for count in energy.label_counts)]
    lines.append(str(len(factors)))
    lines += [" ".join(map(str, (len(variables), *map(int, variables)))) for variables, _ in factors]
    lines += [f"\n{np.size(table)}\n{_format_values(np.asarray(table, float))}" for _, table in factors]
    _files.write_text(path, "\n".join(lines) + "\n")


def read_evidence(path: StrPath) -> dict[int, int]:
    """Read observed labels ``{variable: label}`` from an evidence file."""
    return parse_evidence(_text_of(path), str(path))


def read_pr(path: StrPath) -> float:
    """Read log Z, as a natural logarithm, from a ``PR`` answer, which holds log10 Z."""
    tokens = _Tokens(_text_of(path), str(path))
    tokens.keyword("PR")
    (log10_z,) = tokens.reals(1, "log10 Z")
    tokens.end()
    if not log10_z < math.inf:
        raise tokens.error(f"log10 Z must be a number or -inf, got {log10_z}")
    return log10_z * math.log(10.0)


def read_mar(path: StrPath) -> list[FloatArray]:
    """Read the marginals of a ``MAR`` answer, one array of probabilities for each variable."""
    tokens = _Tokens(_text_of(path), str(path))
    tokens.keyword("MAR")
    n = tokens.count("number of variables")
    marginals = []
    for v in range(n):
        n_labels = tokens.count(f"number of labels of variable {v}")
        marginals.append(np.array(tokens.reals(n_labels, f"probabilities of variable {v}"), float))
    tokens.end()
    return marginals


def write_pr(path: StrPath, log_z: float) -> None:
    """Write log Z as a ``PR`` answer."""
    _files.write_text(path, format_pr(log_z))


def write_mar(path: StrPath, marginals: FloatArray, label_counts: Sequence[int]) -> None:
    """Write marginals, (\\*shape, L), as a ``MAR`` answer."""
    _files.write_text(path, format_mar(marginals, label_counts))


def format_pr(log_z: float) -> str:
    """Text of a ``PR`` answer: log10 Z for a natural logarithm."""
    return f"PR\n{float(log_z) / math.log(10.0)!r}\n"


def format_mar(marginals: FloatArray, label_counts: Sequence[int]) -> str:
    """Text of a ``MAR`` answer for marginals of shape (\\*shape, L), of which each variable has ``label_counts``."""
    rows = np.reshape(marginals, (len(label_counts), -1)).tolist()
    parts = [" ".join(map(str, (int(count), *row[:count]))) for row, count in zip(rows, label_counts, strict=True)]
    return f"MAR\n{' '.join([str(len(parts)), *parts])}\n"


def parse_uai(text: str, name: str) -> tuple[list[int], list[Factor]]:
    """Label counts and cost tables, with the variables of their axes, from the text of a model file.

    ``name`` is what error messages call the file.
    """
    tokens = _Tokens(text, name)
    tokens.keyword("MARKOV", "BAYES")
    n = tokens.count("number of variables")
    label_counts = tokens.integers(n, "label counts")
    most = 1000 + tokens.left
    for v, count in enumerate(label_counts):
        if not 1 <= count <= most:
            raise tokens.error(
                f"variable {v} must have 1 to {most} labels in a file of this size, got {_readable(count)}"
            )
    n_factors = tokens.count("number of factors")
    tokens.need(2 * n_factors, f"the scopes and tables of {n_factors} factors")
    scopes = [_scope(tokens, f"factor {f}", n) for f in range(n_factors)]
    factors = [(scope, _table(tokens, f"factor {f}", scope, label_counts)) for f, scope in enumerate(scopes)]
    tokens.end()
    return label_counts, factors


def parse_evidence(text: str, name: str) -> dict[int, int]:
    """Observed labels from the text of an evidence file: nothing, ``k v x v x ...``, or that after a line ``1``."""
    tokens = _Tokens(text, name)
    numbers = tokens.integers(tokens.left, "evidence")
    if len(numbers) % 2 == 0 and numbers[:1] == [1]:
        numbers = numbers[1:]  # the number of samples
    if len(numbers) != (1 + 2 * numbers[0] if numbers else 0):
        raise tokens.error(
            f"expected the number of observed variables and a variable and a label for each, got {len(numbers)} numbers"
            f" of which the first is {numbers[0]}"
        )
    observed: dict[int, int] = {}
    for variable, label in zip(numbers[1::2], numbers[2::2], strict=True):
        if variable < 0 or label < 0 or observed.setdefault(variable, label) != label:
            raise tokens.error(
                f"variables and labels count from 0 and a variable has one label, got {variable} with {label}"
            )
    return observed


def _scope(tokens: _Tokens, what: str, n: int) -> tuple[int, ...]:
    """The variables of the next factor."""
    arity = tokens.count(f"number of variables of {what}")
    scope = tuple(tokens.integers(arity, f"variables of {what}"))
    if len(set(scope)) < arity or not all(0 <= v < n for v in scope):
        raise tokens.error(f"{what} must join different variables from 0 to {n - 1}, got {' '.join(map(str, scope))}")
    return scope


def _table(tokens: _Tokens, what: str, scope: tuple[int, ...], label_counts: Sequence[int]) -> FloatArray:
    """The costs of the next factor."""
    shape = tuple(label_counts[v] for v in scope)
    expected = _size_of(shape)
    size = tokens.count(f"number of values of {what}")
    if size != expected:
        raise tokens.error(
            f"{what} must have {_readable(expected)} values, the product of its label counts, got {_readable(size)}"
        )
    return tokens.costs(size, f"{_readable(size)} values of {what}").reshape(shape)


def _size_of(shape: Iterable[int]) -> int:
    """Product of the label counts, or some number beyond 10^18 if it lies there."""
    size = 1
    for count in shape:
        size *= count
        if size > 10**18:
            break
    return size


def _readable(number: int) -> str:
    return str(number) if abs(number) < 10**15 else f"about {'-' if number < 0 else ''}10^{math.log10(abs(number)):.0f}"


class _Tokens:
    """The words of a file, taken one after the other; nothing is converted before it is known to be there."""

    def __init__(self, text: str, name: str) -> None:
        text = _COMMENT.sub(" ", text)
        self._words = text.split()
        self._name = name
        self._next = 0
        # Python also reads 1_000 and the digits of other scripts as numbers, these files do not
        self._is_plain = text.isascii() and "_" not in text

    @property
    def left(self) -> int:
        return len(self._words) - self._next

    def error(self, sentence: str) -> FileFormatError:
        return FileFormatError(f"{self._name}, token {self._next}: {sentence}")

    def keyword(self, *choices: str) -> None:
        """Take one of these words, in any case."""
        (word,) = self._take(1, " or ".join(choices))
        if word.upper() not in choices:
            raise self.error(f"expected {' or '.join(choices)}, got {word[:40]!r}")

    def count(self, what: str) -> int:
        """Take a number that is not negative."""
        (number,) = self.integers(1, what)
        if number < 0:
            raise self.error(f"{what} must not be negative, got {_readable(number)}")
        return number

    def integers(self, n: int, what: str) -> list[int]:
        return self._converted(self._take(n, what), int, _INTEGER, what)

    def reals(self, n: int, what: str) -> list[float]:
        return self._converted(self._take(n, what), float, _REAL, what)

    def costs(self, n: int, what: str) -> FloatArray:
        """Take values and return -log of each; what a float64 cannot hold is worked out from its digits."""
        words = self._take(n, what)
        values = np.array(self._converted(words, float, _REAL, what), float)
        wrong = np.flatnonzero(~(values >= 0.0))
        if wrong.size:
            raise self.error(f"{what} must not be negative or NaN, got {words[wrong[0]][:40]} at place {wrong[0]}")
        with np.errstate(divide="ignore"):
            costs: FloatArray = 0.0 - np.log(values)
        extreme = np.flatnonzero((values < _SMALLEST) | (values == math.inf))
        cost_of = {word: self._cost_of(word, what) for word in {words[i] for i in extreme}}
        costs[extreme] = [cost_of[words[i]] for i in extreme]
        return costs

    def need(self, n: int, what: str) -> None:
        """Refuse a file that ends before ``n`` more tokens."""
        if n > self.left:
            raise self.error(f"expected {what}, {_readable(n)} tokens or more, but only {self.left} are left")

    def end(self) -> None:
        if self.left:
            raise self.error(
                f"expected the end of the file, got {self.left} more tokens, {self._words[self._next][:40]!r} first"
            )

    def _take(self, n: int, what: str) -> list[str]:
        self.need(n, what)
        self._next += n
        return self._words[self._next - n : self._next]

    def _converted(
        self, words: list[str], kind: Callable[[str], _Number], pattern: re.Pattern[str], what: str
    ) -> list[_Number]:
        try:
            if self._is_plain or all(map(pattern.fullmatch, words)):
                return list(map(kind, words))
        except ValueError:
            pass
        place, word = next((i, word) for i, word in enumerate(words) if not pattern.fullmatch(word) or len(word) > 400)
        raise self.error(f"{what} must be numbers, got {word[:40]!r} at place {place}") from None

    def _cost_of(self, word: str, what: str) -> float:
        try:
            _, digits, exponent = Decimal(word).as_tuple()
        except ArithmeticError:
            exponent = "F"
        if isinstance(exponent, str):
            raise self.error(f"{what} must be finite, got {word[:40]}")
        if not any(digits):
            return math.inf
        mantissa = float(Decimal((0, digits, 1 - len(digits))))
        return -(math.log(mantissa) + (exponent + len(digits) - 1) * _LOG_10)


def _format_values(costs: FloatArray) -> str:
    """The values exp(-cost), in as few digits as give back the same costs."""
    flat = costs.ravel()
    with np.errstate(over="ignore", under="ignore", divide="ignore"):
        values = np.exp(-flat)
        short = [f"{value:.15g}" for value in values.tolist()]
        same = 0.0 - np.log(np.array(short, float)) == flat
    words = []
    for cost, value, word, is_same in zip(flat.tolist(), values.tolist(), short, same.tolist(), strict=True):
        if cost < math.inf and not _SMALLEST <= value < math.inf:
            words.append(_format_extreme(cost))
        else:
            words.append(word if is_same else repr(value))
    return " ".join(words)


def _format_extreme(cost: float) -> str:
    """The value exp(-cost) in decimal, with an exponent that no float64 has."""
    exponent = math.floor(-cost / _LOG_10)
    return f"{math.exp(-cost - exponent * _LOG_10):.17f}e{exponent}"


def _text_of(path: StrPath) -> str:
    return Path(path).read_text(encoding="utf-8-sig", errors="replace")
