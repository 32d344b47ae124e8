"""Saved results of every version can be read; those of a later one are refused with a sentence.

``saved/version_1.npz`` is ``mf.infer(mf.FactorGraph.ising([0.0, 0.1, 0.0], [(0, 1), (1, 2)], 2.0), n_modes=2)``.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import mixfield as mf
from mixfield.errors import FileFormatError
from mixfield.mixture.archive import VERSION

SAVED = Path(__file__).parent / "saved"


def test_every_version_has_a_file():
    assert {path.name for path in SAVED.iterdir()} == {f"version_{v}.npz" for v in range(1, VERSION + 1)}


@pytest.mark.parametrize("path", sorted(SAVED.iterdir()), ids=lambda path: path.stem)
def test_old_files_are_read(path, tmp_path):
    saved = mf.load(path)
    graph = mf.FactorGraph.ising([0.0, 0.1, 0.0], [(0, 1), (1, 2)], 2.0)
    now = mf.infer(graph, n_modes=2)
    assert saved.labelings().tolist() == [[1, 1, 1], [0, 0, 0]]
    np.testing.assert_allclose(saved.marginals(), now.marginals(), atol=1e-6)
    np.testing.assert_allclose(saved.log_z, now.log_z, atol=1e-6)
    assert [str(c) for mode in saved.modes for c in mode.constraints] == [
        str(c) for mode in now.modes for c in mode.constraints
    ]
    saved.save(tmp_path / "again.npz")
    assert mf.load(tmp_path / "again.npz").log_z == saved.log_z


def test_a_file_from_the_future(tmp_path):
    with np.load(SAVED / "version_1.npz") as file:
        arrays = dict(file)
    header = json.loads(arrays["header"].tobytes()) | {"version": VERSION + 1, "news": "unknown"}
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    np.savez(tmp_path / "future.npz", **arrays)
    with pytest.raises(FileFormatError, match=rf"format version {VERSION + 1}, this mixfield reads version {VERSION};"):
        mf.load(tmp_path / "future.npz")
