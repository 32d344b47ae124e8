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


def test_training_lowers_the_loss_of_held_out_images():
    rows = stills.measure([made_up(seed) for seed in range(5)], 0)
    loss = {row["method"]: row["nll"] for row in rows}
    softmax, tempered, head, joint, small = (loss[method] for method in stills.METHODS)
    assert tempered < softmax
    assert head < softmax
    assert max(joint, small) < 0.7 * tempered  # colours tell the regions apart
