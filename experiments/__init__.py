"""The experiments of the paper and our own, each from the data to a page with its table, figure and numbers."""
