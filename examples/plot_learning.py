"""
Learning a layer from two annotators
====================================

Two annotators disagree about the halo of an object: one counts it as part of the object, one does not.  A layer with
one mode has to choose; a layer with two modes learns both answers.
"""

import matplotlib.pyplot as plt
import torch

from mixfield.torch import MultiModal, mixture_nll

# %%
# An object (red) with a halo (green) on dark ground, and the labels of both annotators.
torch.manual_seed(0)
axis = torch.arange(28.0)
distance = torch.hypot(axis[:, None] - 14, axis - 13)
core, halo = distance < 5, (distance >= 5) & (distance < 9)
image = torch.full((1, 3, 28, 28), 40.0)
image[0, 0, core], image[0, 1, halo] = 200.0, 150.0
image += 15 * torch.randn(image.shape)
wide, narrow = (core | halo).long()[None], core.long()[None]

# %%
# A linear head on colours gives logits.  Alone it can only be undecided about the halo.
colours = image / 128 - 1
head = torch.nn.Conv2d(3, 2, 1)
nll = torch.nn.functional.nll_loss
losses = []
optimizer = torch.optim.Adam(head.parameters(), lr=0.1)
for _ in range(100):
    optimizer.zero_grad()
    log_q = torch.log_softmax(head(colours), 1)
    loss = (nll(log_q, wide) + nll(log_q, narrow)) / 2
    loss.backward()
    optimizer.step()
    losses.append(loss.item())

# %%
# Behind it, a layer with two modes; both are trained together by the likelihood of the annotations under the mixture.
kernels = {"smooth_sxy": 1.5, "smooth_weight": 1.0, "sxy": 10.0, "srgb": 40.0, "weight": 3.0}
layer = MultiModal(2, n_modes=2, weight_exponent=0.05, **kernels)
optimizer = torch.optim.Adam([*head.parameters(), *layer.parameters()], lr=0.05)
for _ in range(15):
    optimizer.zero_grad()
    modes = layer(head(colours), image)
    loss = (mixture_nll(modes, wide) + mixture_nll(modes, narrow)) / 2
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
weights = modes.log_weights[0].exp().tolist()
print("weights of the modes:", [round(weight, 2) for weight in weights])

# %%
figure, axes = plt.subplots(1, 4, figsize=(10, 3))
axes[0].imshow(image[0].movedim(0, -1).clamp(0, 255).byte().numpy())
axes[0].set_title("image")
for k, panel in enumerate(axes[1:3]):
    panel.imshow(modes.labelings[0, k].numpy())
    panel.set_title(f"mode {k + 1}, weight {weights[k]:.2f}")
axes[3].plot(losses)
axes[3].set_title("loss")
for panel in axes[:3]:
    panel.axis("off")
plt.show()
