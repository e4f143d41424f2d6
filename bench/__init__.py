"""What the README claims, measured as ratios in one run: `python -m bench`, `python -m bench.retrieval`."""

import os

# By words alone, unless a benchmark says otherwise: whether the model is installed must not change the others.
os.environ.setdefault("OMOIDE_EMBEDDER", "off")
