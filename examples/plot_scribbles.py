"""
Scribbles with two ambiguous regions
====================================

Yellow scribbles mark the astronaut, blue ones the background. They leave open whether the black helmet and the black
table behind it belong to her. Each superpixel is one variable, so that the weights are not close to 0 and 1.
"""

import matplotlib.pyplot as plt
import numpy as np

import mixfield as mf
from mixfield.apps import as_pixels, superpixel_energy

# %%
# The photograph comes with scikit-image. Superpixels of any algorithm can be used.

photo = mf.datasets.scribbled_photo()
energy = superpixel_energy(photo.image, photo.scribbles, photo.superpixels, certainty=0.99)
post = mf.infer(energy, n_modes=4)

# %%
# Four modes. `as_pixels` turns the posterior over superpixels into one over pixels.

given = photo.image.copy()
given[photo.scribbles == 0], given[photo.scribbles == 1] = (40, 110, 255), (255, 221, 0)
print("probability of each mode:", np.round(post.weights, 3))

figure, axes = plt.subplots(1, 5, figsize=(13, 3), layout="constrained")
axes[0].imshow(given)
axes[0].set_title("scribbles")
axes[0].set_axis_off()
as_pixels(post, photo.superpixels).plot(photo.image, axes=axes[1:])
plt.show()
