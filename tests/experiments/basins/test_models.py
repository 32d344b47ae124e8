"""The families: sizes, couplings and seeds."""

from __future__ import annotations

import pytest

pytest.importorskip("dimod", reason="dimod is not installed")
pytest.importorskip("networkx", reason="networkx is not installed")
models = pytest.importorskip("experiments.basins.models")


@pytest.mark.parametrize(
    ("family", "size", "variables", "edges"),
    [("Ising grid", 4, 16, 24), ("±J spin glass", 4, 16, 32), ("MAX-CUT", 16, 16, 24), ("dense QUBO", 16, 16, 120)],
)
def test_draw(family, size, variables, edges):
    bqm = models.draw(family, size, 3)
    assert sorted(bqm.variables) == list(range(variables))
    assert bqm.num_interactions == edges
    assert bqm == models.draw(family, size, 3)
    assert bqm != models.draw(family, size, 4)


def test_couplings():
    assert set(models.draw("±J spin glass", 4, 0).quadratic.values()) == {-1.0, 1.0}
    assert set(models.draw("MAX-CUT", 16, 0).quadratic.values()) == {1.0}
    assert max(map(abs, models.draw("Ising grid", 4, 0).linear.values())) <= 0.1
