"""libDAI files: what comes back, what is refused."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mixfield as mf
from mixfield.errors import FileFormatError, TooLargeError
from mixfield.io import libdai

DATA = Path(os.environ.get("MIXFIELD_DATA", Path(__file__).parents[4] / "shared" / "data")) / "uai" / "libdai_tests"
with_data = pytest.mark.skipif(not DATA.is_dir(), reason=f"no libDAI files in {DATA}; set MIXFIELD_DATA to their root")

# variable 4 with 2 labels and variable 1 with 3, in this order: 4 changes fastest
PAIR = """# comment
1

2
4 1
2 3
5
0  1.0
1  2.0
2  3.0
4  5.0
5  6.0
"""


def test_the_first_variable_changes_fastest_and_missing_entries_are_zero():
    counts, factors = libdai.parse_fg(PAIR, "pair.fg")
    assert counts == [3, 2]  # variable 1 is before variable 4
    ((scope, costs),) = factors
    assert scope == (1, 0)
    np.testing.assert_allclose(np.exp(-costs), [[1.0, 3.0, 5.0], [2.0, 0.0, 6.0]])


def in_fg(factors):
    """The text of a model, without its zeros."""
    lines = [str(len(factors))]
    for scope, values in factors:
        flat = np.ravel(values, order="F")
        places = np.flatnonzero(flat)
        lines += [
            "",
            str(len(scope)),
            " ".join(map(str, scope)),
            " ".join(map(str, np.shape(values))),
            str(len(places)),
        ]
        lines += [f"{place}\t{float(flat[place])!r}" for place in places]
    return "\n".join(lines) + "\n"


@given(st.lists(st.integers(1, 3), min_size=1, max_size=4), st.integers(0, 2**32 - 1))
def test_a_file_gives_the_energy_of_its_product(counts, seed):
    rng = np.random.default_rng(seed)
    scopes = [(i,) for i in range(len(counts))] + [tuple(rng.permutation(len(counts)).tolist()) for _ in range(2)]
    factors = [(scope, rng.integers(0, 5, [counts[v] for v in scope]) + (len(scope) == 1)) for scope in scopes]
    parsed_counts, parsed = libdai.parse_fg(in_fg(factors), "model.fg")
    assert parsed_counts == counts
    for x in np.ndindex(*counts):
        product = np.prod([float(values[tuple(x[v] for v in scope)]) for scope, values in factors])
        cost = sum(table[tuple(x[v] for v in scope)] for scope, table in parsed)
        np.testing.assert_allclose(np.exp(-cost), product, rtol=1e-12)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "token 0: expected number of factors"),
        ("2 1 0 2 0", r"expected number of variables of factor 1"),
        ("1 2 0 0 2 2 0", "factor 0 must join different variables"),
        ("1 1 -3 2 0", r"factor 0 must join different variables from 0 on, got -3"),
        ("1 1 0 0 0", "variable 0 must have 1 to"),
        ("2 1 0 2 0 1 0 3 0", "factor 1 gives variable 0 3 labels, a factor before it gave it 2"),
        ("1 1 0 2 1 2 0.5", "places from 0 to 1"),
        ("1 1 0 2 2 0 0.5 0 0.5", "different places"),
        ("1 1 0 2 1 0.5 0", "places of entries of factor 0 must be numbers"),
        ("1 1 0 2 1 0 -1", "must not be negative"),
        ("1 1 0 2 1 0 0.5 7", "expected the end of the file"),
        (f"1 70 {' '.join(map(str, range(70)))} {'1 ' * 70} 0", "factor 0 spans 70 variables"),
    ],
)
def test_what_is_refused(text, message):
    with pytest.raises(FileFormatError, match=message):
        libdai.parse_fg(text, "model.fg")


def test_a_small_file_cannot_declare_a_large_table():
    names = " ".join(map(str, range(40)))
    with pytest.raises(TooLargeError, match=r"model.fg: the table of factor 0 has 1099511627776 entries"):
        libdai.parse_fg(f"1 40 {names} {'2 ' * 40} 0", "model.fg")
    with pytest.raises(TooLargeError, match="the table of factor 1 has 8000000 entries"):
        libdai.parse_fg(f"2 {'3 0 1 2 200 200 200 0 ' * 2}", "model.fg")


@with_data
def test_marginals_of_libdai():
    """The exact ones that libDAI printed, with four digits."""
    printed = (DATA / "testfast.out").read_text().split("JTREE_MINFILL_HUGIN")[0]
    rows = re.findall(r"\{x\d+\}, \((\S+), ([^)\s]+)\)", printed)
    answer = mf.exact(libdai.read_fg(DATA / "testfast.fg"))
    assert len(rows) == 16
    np.testing.assert_allclose(answer.marginals, np.array(rows, float), atol=1e-4)


@with_data
def test_the_conditional_tables_of_a_bayesian_network_sum_to_one():
    """ALARM: with the axes of its tables in another order, log Z would not be 0 (up to the digits of the file)."""
    assert abs(mf.exact(libdai.read_fg(DATA / "alarm.fg")).log_z) < 1e-3


@with_data
@pytest.mark.parametrize("path", sorted(DATA.glob("*.fg")), ids=lambda path: path.name)
def test_files_of_libdai_are_read(path):
    graph = libdai.read_fg(path)
    assert np.isfinite(mf.exact(graph).log_z)
