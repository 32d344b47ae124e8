"""What an import costs: neither Numba nor SciPy before they are needed."""

from __future__ import annotations

import subprocess
import sys

import pytest

import mixfield


def _loaded_by(code):
    """Which of the heavy modules a fresh interpreter holds after ``code``."""
    script = f"{code}\nimport sys\nprint(*[m for m in ('numba', 'scipy', 'numpy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_import_loads_neither_numba_nor_scipy():
    assert not _loaded_by("import mixfield") & {"numba", "scipy"}


@pytest.mark.parametrize(
    "build",
    [
        "mf.FactorGraph.ising([[0.0, 1.0]], [(0, 1)], 2.0)",
        "mf.FactorGraph.from_factors([2, 3], [((0, 1), [[0, 0, 1], [0, 1, 0]])])",
        "mf.datasets.random_ising(4)",
    ],
)
def test_building_a_graph_does_not_load_numba(build):
    assert "numba" not in _loaded_by(f"import mixfield as mf\n{build}")


def test_every_public_name_is_there():
    for name in mixfield.__all__:
        assert getattr(mixfield, name) is not None
    assert set(mixfield.__all__) <= set(dir(mixfield))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = mixfield.nonsense
