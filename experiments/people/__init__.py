"""Parts that the experiments on people share: the recording PETS 2009, modes of its frames, MODA."""
