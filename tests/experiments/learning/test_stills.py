"""The head on scores, and its training through the layer, on made-up photographs."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'mixfield[torch]'")

from experiments.learning import stills  # noqa: E402


def made_up(seed):
    """Scores that are too sure of themselves."""
    generator = torch.Generator().manual_seed(seed)
    truth = torch.zeros(1, 12, 14, dtype=torch.long)
    truth[:, :, 7:] = 1
    noisy = torch.nn.functional.one_hot(truth, 2).movedim(-1, 1) + torch.randn(1, 2, 12, 14, generator=generator)
    return stills.Still(torch.log_softmax(4 * noisy, 1), 200.0 * truth[:, None].expand(-1, 3, -1, -1).float(), truth)


def test_training_lowers_the_loss_of_held_out_images(monkeypatch):
    monkeypatch.setattr(stills, "SHRINKAGE", 0.01)
    rows = stills.measure([made_up(seed) for seed in range(5)], 0)
    loss = {row["method"]: row["nll"] for row in rows}
    softmax, tempered, head, field, mixture = loss.values()
    assert tempered < softmax
    assert head < softmax
    assert field < 0.9 * tempered  # colours tell the regions apart
    assert mixture < 0.9 * tempered


def test_without_training_the_head_is_the_softmax():
    still = made_up(0)
    modes = stills.Head(2)(still)
    assert torch.allclose(modes.log_marginals[:, 0], still.scores, atol=1e-5)
    assert modes.log_weights.tolist() == [[0.0]]
    measures = stills._measures(stills.Head(2), still, 2)
    assert measures["nll"] == pytest.approx(measures["pixel_nll"], rel=1e-5)
