"""All benchmarks of speed and size; `--million` adds 1,000,000 memories, retrieval and secrets have their own commands."""

import argparse
import sys
from pathlib import Path

from bench import document, files, footprint, mcp, recall, remember, retire
from bench.table import printed


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--million", action="store_true", help="1,000,000 memories as well: takes about half an hour")
    parser.add_argument("--plot", type=Path, help="draw the medians of recall into this SVG file")
    options = parser.parse_args()
    sizes = [1_000, 10_000, 100_000, *([1_000_000] if options.million else [])]
    kept = [
        printed("Remember (floor: bare apsw)", remember.rows()),
        printed("Start-up, memory and disk (floor: python -c pass)", footprint.rows()),
        printed("Recall (floor: bare FTS5, OR of the words by bm25())", recall.rows(sizes, options.plot)),
        printed("Retention of 100,000 memories", retire.rows()),
        printed("Documents", document.rows()),
        printed("Mirrored files (floor of a glance: os.scandir and stat)", files.rows()),
        printed("MCP server (floor: an echo on the official SDK)", mcp.rows()),
    ]
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
