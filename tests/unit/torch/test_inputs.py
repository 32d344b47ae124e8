"""Bad input is refused with a sentence."""

from __future__ import annotations

import pytest
from torch_layers import batch, torch

from mixfield.errors import MixfieldError, MixfieldWarning
from mixfield.torch import DenseCRF, inputs


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda x, i: (x.detach().numpy(), i), "logits must be a torch.Tensor, got ndarray"),
        (lambda x, i: (x.half(), i), "logits must be float32 or float64, got torch.float16"),
        (lambda x, i: (x[0], i), r"logits must have shape \(B, L, H, W\) or .* with L = 3, got \(3, 5, 6\)"),
        (lambda x, i: (x[:, :2], i), "with L = 3"),
        (lambda x, i: (x * float("nan"), i), "logits must be finite, got NaN or infinity"),
        (lambda x, i: (x, i.numpy()), "images must be a torch.Tensor or None, got ndarray"),
        (lambda x, i: (x, i[:1]), r"images must have shape \(2, 'channels', 5, 6\) to match the logits"),
        (lambda x, i: (x, i[..., :4]), "images must have shape"),
        (lambda x, i: (x, i.requires_grad_()), "images have no gradient in a dense CRF"),
        (lambda x, i: (x, i * float("inf")), "image must hold finite numbers"),
        (lambda x, i: (x, i.to("meta")), "images must be on the device of the logits, cpu, got meta"),
    ],
)
def test_bad_tensors(change, message):
    with pytest.raises(MixfieldError, match=message):
        DenseCRF(3)(*change(*batch((5, 6))))


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_gradients_that_are_not_finite(bad):
    logits, images = batch((5, 6))
    with pytest.raises(MixfieldError, match="must be finite, got NaN or infinity; look for a logarithm of zero"):
        (DenseCRF(3)(logits, images) * bad).sum().backward()


@pytest.mark.parametrize("dtype", [torch.uint8, torch.bfloat16, torch.float64])
def test_images_of_any_dtype(dtype):
    logits, images = batch((5, 6))
    assert torch.isfinite(DenseCRF(3)(logits, images.to(dtype))).all()


class Elsewhere:
    """What the layer asks of a tensor of another device."""

    device = torch.device("cuda", 0)

    def __init__(self):
        self.moved = 0

    def cpu(self):
        self.moved += 1
        return torch.ones(2)


def test_tensors_of_another_device_are_moved_with_one_warning():
    inputs._warn_of_device.cache_clear()
    given = Elsewhere()
    with pytest.warns(MixfieldWarning, match="solved on the CPU: tensors of cuda are copied there and back") as seen:
        moved = [inputs.on_cpu(given) for _ in range(3)]
    assert all(tensor.device.type == "cpu" for tensor in moved)
    assert len(seen) == 1
    assert given.moved == 3
    here = torch.ones(3)
    assert inputs.on_cpu(here) is here
