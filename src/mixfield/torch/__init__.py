"""Dense CRFs as layers of PyTorch, with gradients (extra ``torch``): `DenseCRF`, `MultiModal` and losses of mixtures.

Fields are solved on the CPU.  Tensors of another device are moved there, and the answer back, with one warning.
"""

from __future__ import annotations

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise ImportError("mixfield.torch needs PyTorch: pip install 'mixfield[torch]'") from error

from mixfield.torch.dense_crf import DenseCRF as DenseCRF
from mixfield.torch.losses import expected_iou_choice as expected_iou_choice
from mixfield.torch.losses import mixture_nll as mixture_nll
from mixfield.torch.multi_modal import Modes as Modes
from mixfield.torch.multi_modal import MultiModal as MultiModal
