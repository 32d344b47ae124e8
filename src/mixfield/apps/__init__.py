"""User jobs: compositions of what is below, with no mathematics of their own."""
