"""Factor graphs in the text format of libDAI, ``.fg``.

After the number of factors, each factor is a block: how many variables it has, their names (integers), how many labels
each has, how many entries of its table are listed, and for each of these its place and its value.  The first variable
changes fastest along the places, and entries that are not listed are 0.  A value v is the cost -log v, as in `io.uai`.
"""

from __future__ import annotations

import math

import numpy as np

from mixfield import _files
from mixfield.energy.factor_graph import FactorGraph
from mixfield.errors import TooLargeError
from mixfield.io.uai import COPIES, FLOAT64, MAX_LABELS, Factor, StrPath, check_memory, size_of, text_of
from mixfield.io.uai_tokens import FloatArray, Tokens, readable
from mixfield.kernels.constants import LARGEST_SCOPE


def read_fg(path: StrPath) -> FactorGraph:
    """Read a model in libDAI's ``.fg`` format.

    Parameters
    ----------
    path : the model file.

    Returns
    -------
    FactorGraph
        The model with every table as costs.  Variable k is the k-th of the names in the file in increasing order; where
        these are 0 to n - 1, as libDAI writes them, it is the variable of that name.
    """
    label_counts, factors = parse_fg(text_of(path), str(path))
    return FactorGraph.from_factors(label_counts, factors)


def parse_fg(text: str, name: str) -> tuple[list[int], list[Factor]]:
    """Label counts, and the variables and cost table of each factor, from the text of a model file.

    ``name`` is what error messages call the file.
    """
    tokens = Tokens(text, name)
    n_factors = tokens.count("number of factors")
    tokens.need(2 * n_factors, f"the blocks of {n_factors} factors")
    room = _files.largest_content(len(text)) // (COPIES * FLOAT64)
    count_of: dict[int, int] = {}
    blocks: list[Factor] = []
    for f in range(n_factors):
        names = _names(tokens, f"factor {f}", count_of)
        shape = [count_of[v] for v in names]
        size = size_of(shape)
        if size > room:
            raise TooLargeError(
                f"{name}: the table of factor {f} has {readable(size)} entries; in a file of {len(text)} characters it "
                f"may have at most {room}"
            )
        room -= size
        blocks.append((names, _table(tokens, f"factor {f}", shape)))
    tokens.end()
    number_of = {v: k for k, v in enumerate(sorted(count_of))}
    factors = [(tuple(number_of[v] for v in names), table) for names, table in blocks]
    label_counts = [count_of[v] for v in number_of]
    check_memory(name, len(text), label_counts, [scope for scope, _ in factors])
    return label_counts, factors


def _names(tokens: Tokens, what: str, count_of: dict[int, int]) -> tuple[int, ...]:
    """The names of the variables of the next factor; ``count_of`` gets the label counts of new ones."""
    arity = tokens.count(f"number of variables of {what}")
    if arity > LARGEST_SCOPE:
        raise tokens.error(f"{what} spans {readable(arity)} variables; at most {LARGEST_SCOPE} are supported")
    names = tuple(tokens.integers(arity, f"variables of {what}"))
    if len(set(names)) < arity or min(names, default=0) < 0:
        raise tokens.error(f"{what} must join different variables from 0 on, got {' '.join(map(readable, names))}")
    most = MAX_LABELS + tokens.left
    for v, count in zip(names, tokens.integers(arity, f"label counts of {what}"), strict=True):
        if not 1 <= count <= most:
            raise tokens.error(
                f"variable {readable(v)} must have 1 to {most} labels in a file of this size, got {readable(count)}"
            )
        if count_of.setdefault(v, count) != count:
            raise tokens.error(
                f"{what} gives variable {readable(v)} {count} labels, a factor before it gave it {count_of[v]}"
            )
    return names


def _table(tokens: Tokens, what: str, shape: list[int]) -> FloatArray:
    """The costs of the next factor."""
    n_listed = tokens.count(f"number of entries of {what}")
    places, costs = tokens.indexed_costs(n_listed, f"entries of {what}")
    table = np.full(math.prod(shape), np.inf)
    if len(set(places)) < n_listed or not all(0 <= place < table.size for place in places):
        raise tokens.error(f"entries of {what} must have different places from 0 to {table.size - 1}")
    table[places] = costs
    return np.ascontiguousarray(table.reshape(shape, order="F"))
