"""
Refine the scores of a network
==============================

The probabilities of a network are noisy; the image has sharp edges. A dense CRF combines both. Where the evidence
supports two segmentations, ``mf.segment`` returns both. In this scene the network gives the blue square a probability
of one half.
"""

import matplotlib.pyplot as plt
import numpy as np

import mixfield as mf
from mixfield.apps import entropy_gap, segmentation_energy

# %%
# An image with two squares, and the scores of three labels: background, red, blue. The red square has the probability
# 0.8, the blue one 0.5, with noise in blocks. At 0.5 the evidence of the blue square is about equal to the cost of its
# boundary. A dense CRF counts every pixel as independent evidence, so at 0.48 or 0.52 one mode would have almost all of
# the weight.

rng = np.random.default_rng(0)
height, width = 60, 96
red, blue = np.s_[15:45, 12:40], np.s_[15:45, 56:84]
image = np.full((height, width, 3), 90, np.uint8)
image[red], image[blue] = (200, 60, 50), (60, 80, 190)
scores = np.full((height, width, 3), 0.1)
scores[red][..., 1], scores[blue][..., 2] = 0.8, 0.5
scores += np.repeat(np.repeat(rng.normal(0, 0.06, (height // 6, width // 6, 1)), 6, 0), 6, 1)
scores = np.clip(scores, 0.02, 0.98)
scores[..., 0] = np.clip(1 - scores[..., 1] - scores[..., 2], 0.02, 1)

# %%
# `Kernels` holds the bandwidths and weights of the pairwise terms. `entropy_gap` is the entropy at a higher temperature
# minus that of the first mode.

kernels = mf.Kernels(smooth_sxy=2, smooth_weight=2, sxy=15, srgb=20, weight=4)
post = mf.segment(image, scores, n_modes=2, kernels=kernels)
energy = segmentation_energy(image, scores, kernels=kernels)
gap = entropy_gap(energy, post.modes[0])
print("weights", post.weights.round(3))

# %%

figure, axes = plt.subplots(1, 5, figsize=(14, 2.4), layout="constrained")
titles = ("image", "probability of blue", "entropy gap (bits)")
for axis, picture, title in zip(axes, (image, scores[..., 2], gap), titles, strict=False):
    axis.imshow(picture, vmin=0, vmax=1)
    axis.set_title(title)
    axis.set_axis_off()
post.plot(image, axes=axes[3:])
plt.show()
