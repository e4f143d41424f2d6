"""Embeddings: models that turn texts into vectors, and the index of the vectors of a store."""
