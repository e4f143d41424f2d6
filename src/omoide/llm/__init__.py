"""Language models: optional, off by default. Whoever asks one has a fallback that works without it."""
