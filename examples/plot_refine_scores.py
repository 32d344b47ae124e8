"""
Refine the scores of a network
==============================

A network gives blurred and doubtful probabilities; the image has sharp borders. A dense CRF brings both together, and
where the evidence can be read in two ways, it returns both. Here is a scene with a blue square that the network half
believes in.
"""

import matplotlib.pyplot as plt
import numpy as np

import mixfield as mf
from mixfield.apps import entropy_gap, segmentation_energy

# %%
# An image with two squares, and the probability of "object": sure of the red square, 0.56 for the blue one, with
# blotches. At 0.56 the evidence just pays for the border of the square. Every pixel has a vote, so 0.54 or 0.58 would
# decide the matter: weights of dense fields are this sensitive, and are to be read as an order more than as odds.

rng = np.random.default_rng(0)
height, width = 60, 96
image = np.full((height, width, 3), 90, np.uint8)
image[15:45, 12:40] = (200, 60, 50)
image[15:45, 56:84] = (60, 80, 190)
scores = np.full((height, width), 0.25)
scores[15:45, 12:40] = 0.8
scores[15:45, 56:84] = 0.56
blotches = np.repeat(np.repeat(rng.normal(0, 0.06, (height // 6, width // 6)), 6, 0), 6, 1)
scores = np.clip(scores + blotches, 0.02, 0.98)

# %%
# One call. Kernels say how strongly near pixels of similar colour agree; `entropy_gap` maps the doubt that the first
# mode does not show.

kernels = mf.Kernels(smooth_sxy=2, smooth_weight=2, sxy=15, srgb=20, weight=4)
post = mf.segment(image, scores, n_modes=2, kernels=kernels)
energy = segmentation_energy(image, scores, kernels=kernels)
gap = entropy_gap(energy, post.modes[0])
print("weights", post.weights.round(3))

# %%

figure, axes = plt.subplots(1, 5, figsize=(14, 2.4), layout="constrained")
for axis, picture, title in zip(axes, (image, scores, gap), ("image", "scores", "hidden doubt (bits)"), strict=False):
    axis.imshow(picture, vmin=0, vmax=1)
    axis.set_title(title)
    axis.set_axis_off()
post.plot(image, axes=axes[3:])
plt.show()
