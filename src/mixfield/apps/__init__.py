"""User jobs: compositions of what is below, no mathematics of their own."""
