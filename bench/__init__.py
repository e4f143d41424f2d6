"""What the README claims, measured as ratios in one run: `python -m bench`, `python -m bench.retrieval`."""

import os

# By words alone, also where the model is installed: bench.meaning and bench.retrieval --semantic turn it on themselves.
os.environ.setdefault("OMOIDE_EMBEDDER", "off")
