"""Which project a message belongs to: decided from what it has in common with each of them."""
