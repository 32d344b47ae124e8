"""Exact inference by eliminating variables one after the other: `mixfield.exact`."""
