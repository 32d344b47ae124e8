"""Random fields (section 7.1 of the paper): KL divergence to the posterior over the number of modes."""
