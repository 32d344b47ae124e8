"""Whether the probabilities of segmentations can be believed, measured on images that the fit did not see."""
