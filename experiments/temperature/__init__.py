"""Phase transitions (appendix of the paper): entropy of dense Gaussian CRFs over temperature, and random graphs."""
