"""Other packages, where they are installed."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError

import numpy as np
import pytest

import mixfield as mf
from experiments.generic import peers
from mixfield.errors import MixfieldError


def test_a_missing_package_is_named(monkeypatch):
    def version(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(peers, "version", version)
    with pytest.raises(MixfieldError, match="needs pygms; pip install pygms pyagrum"):
        peers.peer_versions()


def test_pyagrum_is_exact():
    pytest.importorskip("pyagrum")
    graph = mf.datasets.random_ising(3, rng=0)
    ((_, _, call),) = peers.pyagrum_runs(graph)
    np.testing.assert_allclose(np.array(call()[1]), mf.exact(graph).marginals.reshape(9, 2), atol=1e-6)


def test_pygms_mean_field_is_a_bound(tmp_path):
    pytest.importorskip("pygms")
    graph = mf.datasets.random_ising(3, rng=0)
    mf.io.write_uai(tmp_path / "model.uai", graph)
    _, _, call = next(peers.pygms_runs(tmp_path / "model.uai"))
    assert call()[0] <= mf.exact(graph).log_z
