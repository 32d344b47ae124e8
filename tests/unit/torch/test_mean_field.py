"""The function behind the layer."""

from __future__ import annotations

import threading

import pytest
from torch_layers import batch, torch

from mixfield.torch import DenseCRF
from mixfield.torch.mean_field import for_each


def test_images_are_solved_side_by_side(monkeypatch):
    monkeypatch.setenv("MIXFIELD_THREADS", "2")
    met = threading.Barrier(2, timeout=20)  # passes only if two are at work at once

    def work(b):
        met.wait()
        return b * b

    assert for_each(work, 4) == [0, 1, 4, 9]
    assert for_each(lambda b: b, 1) == [0]


def test_an_error_of_one_image_is_raised():
    with pytest.raises(ZeroDivisionError):
        for_each(lambda b: 1 // b, 3)


def test_a_second_derivative_is_refused():
    logits, images = batch((4, 5))
    (first,) = torch.autograd.grad(DenseCRF(3)(logits, images)[:, 0].sum(), logits, create_graph=True)
    with pytest.raises(RuntimeError, match="does not require grad"):
        torch.autograd.grad(first.sum(), logits)


@pytest.mark.parametrize("gradient", ["unrolled", "implicit"])
def test_a_graph_may_be_walked_twice(gradient):
    logits, images = batch((4, 5))
    loss = DenseCRF(3, gradient=gradient)(logits, images)[:, 0].sum()
    first, second = (torch.autograd.grad(loss, logits, retain_graph=True)[0] for _ in range(2))
    assert torch.equal(first, second)


def test_logits_that_have_changed_since_are_noticed():
    logits, images = batch((4, 5))
    given = logits * 1.0
    loss = DenseCRF(3)(given, images)[:, 0].sum()
    given.add_(1.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()
