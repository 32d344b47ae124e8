"""
Scribbles with two open questions
=================================

Somebody scribbled on a photograph: yellow is the astronaut, blue is background. Is the black helmet hers? And the black
table behind it, which looks just the same? Superpixels vote once each, so that the weights of the answers mean
something.
"""

import matplotlib.pyplot as plt
import numpy as np

import mixfield as mf
from mixfield.apps import as_pixels, superpixel_energy

# %%
# The photograph comes with scikit-image; the superpixels could be those of any algorithm.

photo = mf.datasets.scribbled_photo()
energy = superpixel_energy(photo.image, photo.scribbles, photo.superpixels, certainty=0.99)
post = mf.infer(energy, n_modes=4)

# %%
# Four answers to two questions. The same posterior seen through the superpixels is one over pixels.

given = photo.image.copy()
given[photo.scribbles == 0], given[photo.scribbles == 1] = (40, 110, 255), (255, 221, 0)
print("probability of each interpretation:", np.round(post.weights, 3))

figure, axes = plt.subplots(1, 5, figsize=(13, 3), layout="constrained")
axes[0].imshow(given)
axes[0].set_title("scribbles")
axes[0].set_axis_off()
as_pixels(post, photo.superpixels).plot(photo.image, axes=axes[1:])
plt.show()
