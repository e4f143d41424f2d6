"""Benchmarks: the commands that print the figures of docs/benchmarks.md."""

import os

# Words alone, even where the model is installed; bench.meaning and bench.retrieval --semantic turn the embedder on.
os.environ.setdefault("OMOIDE_EMBEDDER", "off")
