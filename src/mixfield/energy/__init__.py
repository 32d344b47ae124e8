"""What is minimised: energies answer a few questions and know nothing of who asks."""
