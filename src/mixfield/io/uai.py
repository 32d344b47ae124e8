"""Graphical models, evidence and answers in the text formats of the UAI inference competitions.

A model file has probabilities or weights, an energy has costs: a value v is the cost -log v, and 0 is +inf.  Numbers
beyond the range of float64, such as ``1e-400``, keep their logarithm; programs that read doubles get 0 or infinity.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mixfield import _files
from mixfield.energy.factor_graph import FactorGraph
from mixfield.energy.factor_tables import LARGEST_PADDED
from mixfield.errors import FileFormatError, MixfieldError, TooLargeError
from mixfield.io.documents import MAX_TABLE, unix_lines
from mixfield.io.uai_tokens import LOG_10, SMALLEST, FloatArray, Tokens, readable
from mixfield.kernels.constants import LARGEST_SCOPE

Factor = tuple[tuple[int, ...], FloatArray]
StrPath = str | os.PathLike[str]

MAX_LABELS = 1000  # of a variable without factors; others have at most as many as the file has tokens
MAX_SIZE = 10**18  # beyond it the size of a table is not computed further
FLOAT64 = 8  # bytes
COPIES = 3  # of padded tables while a `FactorGraph` is built


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
    label_counts, factors = parse_uai(text_of(path), str(path))
    graph = FactorGraph.from_factors(label_counts, factors)
    if evidence is None:
        return graph
    if isinstance(evidence, Mapping):
        return graph.condition(dict(evidence))
    observed = read_evidence(evidence)
    for variable, label in observed.items():
        n_labels = label_counts[variable] if variable < len(label_counts) else 0
        if label >= n_labels:
            raise FileFormatError(
                f"{evidence}: label {label} of variable {variable} does not exist, in {path} it has {n_labels}"
            )
    return graph.condition(observed)


def write_uai(path: StrPath, energy: _HasFactors) -> None:
    """Write an energy that is a sum of tables as a ``MARKOV`` file, which is replaced in one step.

    Notes
    -----
    Each value exp(-cost) is written with 15 digits if they give the same cost, otherwise with 17, so that a file read
    again has the same costs to within rounding: 1e-15 of max(1, abs(cost)).  A constant is a factor over no variables.
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
    return parse_evidence(text_of(path), str(path))


def read_pr(path: StrPath) -> float:
    """Read log Z, the natural logarithm, from a ``PR`` answer, which has log10 Z."""
    tokens = Tokens(text_of(path), str(path))
    tokens.keyword("PR")
    (log10_z,) = tokens.reals(1, "log10 Z")
    tokens.end()
    if not log10_z < math.inf:
        raise tokens.error(f"log10 Z must be a number or -inf, got {log10_z}")
    return log10_z * LOG_10


def read_mar(path: StrPath) -> list[FloatArray]:
    """Read the marginals of a ``MAR`` answer, one array of probabilities for each variable."""
    tokens = Tokens(text_of(path), str(path))
    tokens.keyword("MAR")
    n = tokens.count("number of variables")
    marginals = []
    for v in range(n):
        n_labels = tokens.count(f"number of labels of variable {v}")
        marginals.append(np.array(tokens.reals(n_labels, f"probabilities of variable {v}"), float))
    tokens.end()
    return marginals


def write_pr(path: StrPath, log_z: float) -> None:
    """Write log Z, the natural logarithm, as a ``PR`` answer, which has log10 Z."""
    _files.write_text(path, f"PR\n{float(log_z) / LOG_10!r}\n")


def write_mar(path: StrPath, marginals: FloatArray, label_counts: Sequence[int]) -> None:
    """Write marginals (\\*shape, L) as a ``MAR`` answer; variable v has ``label_counts[v]`` labels."""
    rows = np.reshape(marginals, (len(label_counts), -1)).tolist()
    parts = [" ".join(map(str, (int(count), *row[:count]))) for row, count in zip(rows, label_counts, strict=True)]
    _files.write_text(path, f"MAR\n{' '.join([str(len(parts)), *parts])}\n")


def parse_uai(text: str, name: str) -> tuple[list[int], list[Factor]]:
    """Label counts, and the variables and cost table of each factor, from the text of a model file.

    ``name`` is what error messages call the file.
    """
    tokens = Tokens(text, name)
    tokens.keyword("MARKOV", "BAYES")
    n = tokens.count("number of variables")
    label_counts = tokens.integers(n, "label counts")
    most = MAX_LABELS + tokens.left
    for v, count in enumerate(label_counts):
        if not 1 <= count <= most:
            raise tokens.error(
                f"variable {v} must have 1 to {most} labels in a file of this size, got {readable(count)}"
            )
    n_factors = tokens.count("number of factors")
    tokens.need(2 * n_factors, f"the scopes and tables of {n_factors} factors")
    scopes = [_scope(tokens, f"factor {f}", n) for f in range(n_factors)]
    factors = [(scope, _table(tokens, f"factor {f}", scope, label_counts)) for f, scope in enumerate(scopes)]
    tokens.end()
    check_memory(name, len(text), label_counts, scopes)
    return label_counts, factors


def check_memory(name: str, size: int, label_counts: Sequence[int], scopes: Sequence[tuple[int, ...]]) -> None:
    """Refuse a file of ``size`` bytes whose tables, padded to the largest label count, would take much more memory."""
    most = max(label_counts, default=1)
    pairs = FLOAT64 * most * most * sum(len(scope) == 2 for scope in scopes)
    padded = FLOAT64 * most * len(label_counts) + (pairs if pairs <= LARGEST_PADDED else 0)
    if COPIES * padded > _files.largest_content(size):
        raise TooLargeError(
            f"{name}: its tables take {readable(COPIES * padded)} bytes, since all are padded to {most} labels, the "
            f"most of any variable; too many for a file of {size} bytes: merge or drop labels"
        )


def parse_evidence(text: str, name: str) -> dict[int, int]:
    """Observed labels from the text of an evidence file: nothing, ``k v x v x ...``, or that after a line ``1``."""
    tokens = Tokens(text, name)
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


def _scope(tokens: Tokens, what: str, n: int) -> tuple[int, ...]:
    """The variables of the next factor."""
    arity = tokens.count(f"number of variables of {what}")
    if arity > LARGEST_SCOPE:  # more than an array has axes
        raise tokens.error(f"{what} spans {readable(arity)} variables; at most {LARGEST_SCOPE} are supported")
    scope = tuple(tokens.integers(arity, f"variables of {what}"))
    if len(set(scope)) < arity or not all(0 <= v < n for v in scope):
        raise tokens.error(f"{what} must join different variables from 0 to {n - 1}, got {' '.join(map(str, scope))}")
    return scope


def _table(tokens: Tokens, what: str, scope: tuple[int, ...], label_counts: Sequence[int]) -> FloatArray:
    """The costs of the next factor."""
    shape = tuple(label_counts[v] for v in scope)
    expected = size_of(shape)
    size = tokens.count(f"number of values of {what}")
    if size != expected:
        raise tokens.error(
            f"{what} must have {readable(expected)} values, the product of its label counts, got {readable(size)}"
        )
    return tokens.costs(size, f"{readable(size)} values of {what}").reshape(shape)


def size_of(shape: Iterable[int]) -> int:
    """Product of the label counts, or some number beyond `MAX_SIZE` if it is larger."""
    size = 1
    for count in shape:
        size *= count
        if size > MAX_SIZE:
            break
    return size


def _format_values(costs: FloatArray) -> str:
    """The values exp(-cost), in as few digits as give the same costs."""
    flat = costs.ravel()
    with np.errstate(over="ignore", under="ignore", divide="ignore"):
        values = np.exp(-flat)
        short = [f"{value:.15g}" for value in values.tolist()]
        same = 0.0 - np.log(np.array(short, float)) == flat
    words = []
    for cost, value, word, is_same in zip(flat.tolist(), values.tolist(), short, same.tolist(), strict=True):
        if cost < math.inf and not SMALLEST <= value < math.inf:
            words.append(_format_extreme(cost))
        else:
            words.append(word if is_same else repr(value))
    return " ".join(words)


def _format_extreme(cost: float) -> str:
    """The value exp(-cost) in decimal, with an exponent that no float64 has."""
    exponent = math.floor(-cost / LOG_10)
    return f"{math.exp(-cost - exponent * LOG_10):.17f}e{exponent}"


def text_of(path: StrPath) -> str:
    """The text of a model file, with one kind of line ends."""
    return unix_lines(_files.read_bytes(path, MAX_TABLE).decode("utf-8-sig", errors="replace"))
