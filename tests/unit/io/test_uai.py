"""UAI files: what comes back, what is refused, and that nothing else happens."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mixfield.elimination.junction_tree import exact
from mixfield.energy.factor_graph import FactorGraph
from mixfield.errors import FileFormatError, MixfieldError, TooLargeError
from mixfield.io import uai

# variables 0 - 1 - 2 in a row, 2 2 3 labels
CHAIN = """MARKOV
3
2 2 3
3
1 0
2 0 1
2 1 2

2
 0.436 0.564

4
 0.128 0.872
 0.920 0.080

6
 0.210 0.333 0.457
 0.811 0.000 0.189
"""


@st.composite
def models(draw):
    counts = draw(st.lists(st.integers(1, 4), max_size=5))
    scope = st.lists(st.integers(0, len(counts) - 1), max_size=4, unique=True) if counts else st.just([])
    scopes = draw(st.lists(scope.map(tuple), max_size=6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scale = draw(st.sampled_from([1e-3, 1.0, 30.0, 2000.0]))
    tables = [_random_table(rng, [counts[v] for v in scope], scale) for scope in scopes]
    return counts, list(zip(scopes, tables, strict=True))


def _random_table(rng, shape, scale):
    costs = np.where(rng.random(shape) < 0.2, np.inf, scale * rng.standard_normal(shape))
    return costs if np.isfinite(costs).any() else np.zeros(shape)


class Tables:
    """An energy that is nothing but its tables."""

    def __init__(self, counts, tables):
        self.label_counts, self._tables = np.array(counts, int), tables

    def factors(self):
        return self._tables


def _assert_same(model, expected, **tolerance):
    assert list(model[0]) == list(expected[0])
    assert [scope for scope, _ in model[1]] == [scope for scope, _ in expected[1]]
    for (_, table), (_, wanted) in zip(model[1], expected[1], strict=True):
        np.testing.assert_allclose(table, wanted, **tolerance)


def test_values_become_costs():
    counts, factors = uai.parse_uai(CHAIN, "chain.uai")
    assert counts == [2, 2, 3]
    assert [scope for scope, _ in factors] == [(0,), (0, 1), (1, 2)]
    np.testing.assert_allclose(factors[1][1], -np.log([[0.128, 0.872], [0.920, 0.080]]))
    assert factors[2][1][1, 1] == math.inf


def test_bayes_gives_the_same_tables_and_sums_to_one(tmp_path):
    (tmp_path / "chain.uai").write_text(CHAIN.replace("MARKOV", "bayes"))
    assert exact(uai.read_uai(tmp_path / "chain.uai")).log_z == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    "text",
    [
        CHAIN.replace("\n", "\r\n"),
        CHAIN.replace(" ", "\t \t"),
        CHAIN.replace("\n", " "),
        "\ufeff" + CHAIN.lower() + "\n \t\r\n\n",
        CHAIN.replace("0.436", "4.36E-01").replace("0.564", "+.564").replace("0.920", "92e-2"),
        "c a comment\nc\n# another\n" + CHAIN.replace("\n2\n", " // the first table\n2 # values\n", 1),
    ],
    ids=["crlf", "tabs", "one line", "mark, case, trailing space", "notation", "comments"],
)
def test_real_files_vary(text, tmp_path):
    (tmp_path / "model.uai").write_bytes(text.encode())
    model = uai.parse_uai(uai.text_of(tmp_path / "model.uai"), "model.uai")
    _assert_same(model, uai.parse_uai(CHAIN, ""), rtol=1e-15)


def test_repeated_scopes_and_constants_are_kept():
    text = "MARKOV 1 2 4  1 0  1 0  0  0   2 0.5 0.5  2 0.1 0.9  1 0.25  1 4"
    counts, factors = uai.parse_uai(text, "")
    assert [scope for scope, _ in factors] == [(0,), (0,), (), ()]
    assert exact(FactorGraph.from_factors(counts, factors)).log_z == pytest.approx(math.log(0.5))


def test_no_variables_and_no_factors():
    assert uai.parse_uai("MARKOV 0 0", "") == ([], [])


def test_numbers_beyond_float64_keep_their_logarithm():
    _, ((_, costs),) = uai.parse_uai("MARKOV 1 4 1 1 0 4 25e-401 0.0e-999 1e400 0.000001e-305", "")
    ln10 = math.log(10)
    np.testing.assert_allclose(costs, [400 * ln10 - math.log(2.5), math.inf, -400 * ln10, 311 * ln10], rtol=1e-15)


@given(models())
@settings(max_examples=150, deadline=None)
def test_round_trip_of_tables(tmp_path_factory, model):
    path = tmp_path_factory.getbasetemp() / "round_trip.uai"
    uai.write_uai(path, Tables(*model))
    _assert_same(uai.parse_uai(path.read_text(), ""), model, rtol=1e-15, atol=1e-15)


@given(st.lists(st.decimals(0, 10, places=9), min_size=1, max_size=20))
@settings(max_examples=100, deadline=None)
def test_round_trip_of_written_numbers_is_exact(tmp_path_factory, numbers):
    words = " ".join(map(str, numbers))
    model = uai.parse_uai(f"MARKOV 1 {len(numbers)} 1 1 0 {len(numbers)} {words}", "")
    path = tmp_path_factory.getbasetemp() / "exact_trip.uai"
    uai.write_uai(path, Tables(*model))
    again = uai.parse_uai(path.read_text(), "")
    np.testing.assert_array_equal(again[1][0][1], model[1][0][1])


def test_round_trip_of_a_factor_graph(tmp_path):
    (tmp_path / "chain.uai").write_text(CHAIN)
    graph = uai.read_uai(tmp_path / "chain.uai")
    uai.write_uai(tmp_path / "again.uai", graph)
    again = uai.read_uai(tmp_path / "again.uai")
    for x in np.ndindex(2, 2, 3):
        assert again.of(x) == pytest.approx(graph.of(x), rel=1e-15)


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "model.uai"
    path.write_text("precious")
    with pytest.raises(MixfieldError, match="write_uai needs 'factors', object does not provide it"):
        uai.write_uai(path, object())
    (tmp_path / "a directory").mkdir()
    with pytest.raises(IsADirectoryError):
        uai.write_pr(tmp_path / "a directory", 1.0)
    assert path.read_text() == "precious"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a directory", "model.uai"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"bad.uai, token 0: expected MARKOV or BAYES, 1 tokens or more, but only 0 are left"),
        ("LIMID 1", r"token 1: expected MARKOV or BAYES, got 'LIMID'"),
        ("MARKOV three", r"token 2: number of variables must be numbers, got 'three' at place 0"),
        ("MARKOV 1_0", r"number of variables must be numbers, got '1_0'"),
        ("MARKOV -3", r"number of variables must not be negative, got -3"),
        ("MARKOV 1000000000000 2 2", r"expected label counts, 1000000000000 tokens or more, but only 2 are left"),
        (f"MARKOV {'9' * 400} 2", r"expected label counts, about 10\^400 tokens or more, but only 1 are left"),
        (f"MARKOV {'9' * 5000} 2", r"number of variables must be numbers, got '9999"),
        ("MARKOV 2 2 0 1 1 0 2 1 1", r"variable 1 must have 1 to \d+ labels in a file of this size, got 0"),
        ("MARKOV 1 1000000000000 0", r"variable 0 must have 1 to \d+ labels .* got 1000000000000"),
        ("MARKOV 1 2 1000000000000 1 0", r"expected the scopes and tables of 1000000000000 factors"),
        ("MARKOV 1 2 1 2 0 0 4 1 1 1 1", r"factor 0 must join different variables from 0 to 0, got 0 0"),
        ("MARKOV 1 2 1 1 7 2 1 1", r"factor 0 must join different variables from 0 to 0, got 7"),
        ("MARKOV 1 2 1 60 0 1", r"expected variables of factor 0, 60 tokens or more, but only 2 are left"),
        ("MARKOV 1 2 1 1 0 3 1 1 1", r"factor 0 must have 2 values, the product of its label counts, got 3"),
        ("MARKOV 1 2 1 1 0 2 1", r"token 7: expected 2 values of factor 0, 2 tokens or more, but only 1 are left"),
        ("MARKOV 1 2 1 1 0 2 1 -1", r"2 values of factor 0 must not be negative or NaN, got -1 at place 1"),
        ("MARKOV 1 2 1 1 0 2 nan 1", r"2 values of factor 0 must not be negative or NaN, got nan at place 0"),
        ("MARKOV 1 2 1 1 0 2 inf 1", r"2 values of factor 0 must be finite, got inf"),
        ("MARKOV 1 2 1 1 0 2 1 1e99999999999999999999", r"must be finite, got 1e999"),
        ("MARKOV 1 2 1 1 0 2 1 0,5", r"2 values of factor 0 must be numbers, got '0,5' at place 1"),
        ("MARKOV 1 2 1 1 0 2 1 1 1", r"token 9: expected the end of the file, got 1 more tokens, '1' first"),
    ],
)
def test_malformed_models_are_refused_in_one_sentence(text, message):
    with pytest.raises(FileFormatError, match=message) as caught:
        uai.parse_uai(text, "bad.uai")
    assert str(caught.value).startswith("bad.uai, token ")
    assert "\n" not in str(caught.value)


def test_a_factor_of_sixty_variables_is_refused_without_its_table():
    n = 60
    text = f"MARKOV {n} {'2 ' * n} 1 {n} {' '.join(map(str, range(n)))} {2**n} 1 1 1"
    with pytest.raises(FileFormatError, match=r"expected about 10\^18 values of factor 0, .* but only 3 are left"):
        uai.parse_uai(text, "wide.uai")


@given(st.text(alphabet=st.sampled_from("MARKOVBYES 0123456789.e-+naif\n\tc#/_٣"), max_size=60))
@settings(max_examples=300, deadline=None)
@example("MARKOV 1 ٣ 0")
def test_any_text_is_read_or_refused(text):
    for parse in (uai.parse_uai, uai.parse_evidence):
        try:
            parse(text, "fuzz")
        except FileFormatError as error:
            assert str(error).startswith("fuzz, token ")  # noqa: PT017


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_mutated_files_are_read_or_refused(data):
    words = CHAIN.split()
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(words)))
        junk = data.draw(st.sampled_from(["0", "1", "2", "-1", "1e999", "nan", "x", "99999999999", "MARKOV", "1e-9"]))
        words[place : place + data.draw(st.integers(0, 2))] = [junk] * data.draw(st.integers(0, 2))
    try:
        counts, factors = uai.parse_uai(" ".join(words), "fuzz")
    except FileFormatError:
        return
    for scope, table in factors:
        assert table.shape == tuple(counts[v] for v in scope)
        assert not np.isnan(table).any()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        (" \n", {}),
        ("0", {}),
        ("0\n", {}),
        ("1\n0\n", {}),
        ("2 1 0 2 2", {1: 0, 2: 2}),
        ("1\n2 1 0 2 2\n", {1: 0, 2: 2}),
        ("1 0 1", {0: 1}),
        ("1\r\n1 0 1\r\n", {0: 1}),
    ],
)
def test_evidence_formats(text, expected):
    assert uai.parse_evidence(text, "") == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "2 1 0",
            r"obs.evid, token 3: expected the number of observed variables .* got 3 numbers of which the first is 2",
        ),
        ("2\n1 0 1\n1 0 0", r"got 7 numbers of which the first is 2"),
        ("x", r"evidence must be numbers, got 'x' at place 0"),
        ("1 -1 0", r"count from 0 .* got -1 with 0"),
        ("2 1 0 1 1", r"a variable has one label, got 1 with 1"),
    ],
)
def test_malformed_evidence_is_refused(text, message):
    with pytest.raises(FileFormatError, match=message):
        uai.parse_evidence(text, "obs.evid")


def test_evidence_conditions_the_model(tmp_path):
    path, observed = tmp_path / "chain.uai", tmp_path / "chain.uai.evid"
    path.write_text(CHAIN)
    observed.write_text("1 1 0")
    answer = exact(uai.read_uai(path, observed))
    np.testing.assert_allclose(answer.marginals[2], [0.210, 0.333, 0.457], rtol=1e-12)
    assert answer.log_z == pytest.approx(math.log(0.436 * 0.128 + 0.564 * 0.920))
    assert exact(uai.read_uai(path, {1: 0})).log_z == answer.log_z


@pytest.mark.parametrize("text", ["1 7 0", "1 1 2"])
def test_evidence_must_fit_the_model(text, tmp_path):
    (tmp_path / "chain.uai").write_text(CHAIN)
    (tmp_path / "chain.evid").write_text(text)
    with pytest.raises(
        FileFormatError, match=r"chain.evid: label \d of variable \d does not exist, in .*chain.uai it has \d"
    ):
        uai.read_uai(tmp_path / "chain.uai", tmp_path / "chain.evid")


def test_answers_round_trip(tmp_path):
    uai.write_pr(tmp_path / "PR", -12.345)
    assert (tmp_path / "PR").read_text().startswith("PR\n-5.36")
    assert uai.read_pr(tmp_path / "PR") == pytest.approx(-12.345, rel=1e-15)
    marginals = np.array([[0.1, 0.9, 0.0], [0.25, 0.5, 0.25]])
    uai.write_mar(tmp_path / "MAR", marginals, [2, 3])
    assert (tmp_path / "MAR").read_text() == "MAR\n2 2 0.1 0.9 3 0.25 0.5 0.25\n"
    first, second = uai.read_mar(tmp_path / "MAR")
    np.testing.assert_array_equal(first, [0.1, 0.9])
    np.testing.assert_array_equal(second, [0.25, 0.5, 0.25])


@pytest.mark.parametrize(
    ("read", "text", "message"),
    [
        (uai.read_pr, "MAR 1", "expected PR, got 'MAR'"),
        (uai.read_pr, "PR", "expected log10 Z, 1 tokens or more, but only 0 are left"),
        (uai.read_pr, "PR nan", "log10 Z must be a number or -inf, got nan"),
        (uai.read_mar, "MAR 2 2 0.5 0.5", "expected number of labels of variable 1"),
        (uai.read_mar, "MAR 1 3 0.5 0.5", "expected probabilities of variable 0, 3 tokens or more, but only 2"),
    ],
)
def test_malformed_answers_are_refused(read, text, message, tmp_path):
    (tmp_path / "answer").write_text(text)
    with pytest.raises(FileFormatError, match=message):
        read(tmp_path / "answer")


def test_megabytes_are_read_in_a_moment():
    side = 500
    words = " ".join(map(str, np.random.default_rng(0).random(side * side)))
    text = f"MARKOV 2 {side} {side} 1 2 0 1 {side * side} {words}"
    assert len(text) > 4e6
    start = time.process_time()
    uai.parse_uai(text, "")
    assert time.process_time() - start < 2.0


@pytest.mark.parametrize(
    "text",
    [
        "MARKOV 60000 " + "1000 " * 60_000 + "0",
        "MARKOV 1001 1000 " + "2 " * 1000 + "999 " + "2 1 2 " * 999 + "4 1 1 1 1 " * 999,
    ],
    ids=["variables", "pairs"],
)
def test_padding_that_takes_much_more_memory_than_the_file(text):
    with pytest.raises(TooLargeError, match=r"bad\.uai: its tables take .* bytes, since all are padded to 1000 labels"):
        uai.parse_uai(text, "bad.uai")


def test_padding_of_a_ragged_model(tmp_path):
    (tmp_path / "a.uai").write_text("MARKOV 3 1000 2 2 1 2 1 2 4 1 2 3 4")
    assert uai.read_uai(tmp_path / "a.uai").label_counts.tolist() == [1000, 2, 2]


def test_more_variables_than_an_array_has_axes():
    """Each has one label, so that the table has one entry."""
    text = f"MARKOV\n70\n{'1 ' * 70}\n1\n70 {' '.join(map(str, range(70)))}\n1 1.0\n"
    with pytest.raises(FileFormatError, match="factor 0 spans 70 variables; at most 60 are supported"):
        uai.parse_uai(text, "wide.uai")
