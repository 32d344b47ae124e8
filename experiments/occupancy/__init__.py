"""People detection (section 7.2 of the paper): MODA on PETS 2009, and synthetic scenes.

Compared are mean field, the best of four modes as an oracle chooses (the protocol of DivMBest), and the same oracle
over mean field and three trivial variants of it, because an oracle gains from any variation.
"""
