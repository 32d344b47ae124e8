"""What an energy is, and what is said of objects that are none."""

from __future__ import annotations

import numpy as np
import pytest

import mixfield as mf
from mixfield.errors import MixfieldError


def test_what_is_not_an_energy_is_an_error():
    with pytest.raises(MixfieldError, match="object lacks shape, n_labels, local_field, expected, of"):
        mf.mean_field(object())

    class Half:
        shape, n_labels = (2,), 2

        def local_field(self, q):
            return q

    with pytest.raises(MixfieldError, match="Half lacks expected, of"):
        mf.infer(Half())


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (lambda q: q[..., :1], "local_field of Bad must return"),
        (lambda q: q * np.nan, "local_field of Bad returned NaN"),
    ],
)
def test_a_black_box_that_answers_nonsense(answer, sentence):
    class Bad:
        shape, n_labels = (2,), 2

        def local_field(self, q):
            return answer(q)

        def expected(self, q):
            return float(q.sum())

        def of(self, x):
            return float(np.sum(x))

    with pytest.raises(MixfieldError, match=sentence):
        mf.mean_field(Bad())
