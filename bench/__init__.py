"""What the README claims, measured as ratios in one run: `python -m bench`, `python -m bench.retrieval`."""
