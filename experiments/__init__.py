"""The experiments of the paper and our own: each measures, and writes a page with tables, figures and numbers."""
