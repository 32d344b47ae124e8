"""Videos (section 7.4 of the paper): one mode per frame, chosen without the truth by network, colours and shapes.

Compared are mean field, the mode of largest calibrated weight, a random mode, the temporal choice with the constants of
the library and with constants fitted on the other sequences, and the best mode.
"""
