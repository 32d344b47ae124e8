"""Constants of the kernels."""

from __future__ import annotations

import subprocess
import sys

import numpy as np

import mixfield as mf
from mixfield.kernels.constants import FORBIDDEN, FREE, LN2, LOG2_E, LOWEST, SINK, SOURCE


def test_they_load_without_numba():
    code = "import sys, mixfield.kernels.constants; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_forbidden_outweighs_all_that_exp_can_tell():
    assert FORBIDDEN.dtype == np.float32
    assert -float(FORBIDDEN) < LOWEST
    crf = mf.DenseCRF(np.array([[0.0, np.inf], [0.0, 1.0]]), [mf.Gaussian(1.0, 100.0)])
    assert crf.costs.max() == FORBIDDEN
    assert mf.mean_field(crf).marginals[0, 1] == 0.0


def test_logarithms():
    assert np.log(2.0) == LN2
    assert np.log2(np.e) == LOG2_E


def test_marks_of_a_flow_are_no_arcs_and_no_nodes():
    assert max(FREE, SOURCE, SINK) < 0
    assert FREE not in (SOURCE, SINK)
