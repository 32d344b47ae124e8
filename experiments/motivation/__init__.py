"""Four zones (section 3 of the paper): mean field, two modes and exact inference."""
