"""Learning through the layers of `mixfield.torch`: planted parameters, photographs, and annotators who disagree."""
