"""Still images (section 7.3 of the paper): the best of K segmentations, chosen by an oracle, against mean field.

An oracle gains from any variation.  Therefore the modes are compared with DivMBest, random restarts and mean fields of
noisy scores, at the same number of segmentations.
"""
