"""Run all benchmarks of speed and size. The others have commands of their own: see docs/benchmarks.md."""

import argparse
import sys
from pathlib import Path

from bench import compose, document, files, footprint, mcp, recall, remember, retire
from bench.table import print_table


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--million", action="store_true", help="also measure 1,000,000 memories; takes about half an hour")
    parser.add_argument("--plot", type=Path, help="write a chart of the medians of recall to this SVG file")
    options = parser.parse_args()
    sizes = [1_000, 10_000, 100_000, *([1_000_000] if options.million else [])]
    met = [
        print_table("Remember (baseline: plain apsw)", remember.rows()),
        print_table("Start-up, memory and disk (baseline: python -c pass)", footprint.rows()),
        print_table("Recall (baseline: plain FTS5, OR of the words by bm25())", recall.rows(sizes, options.plot)),
        print_table("Retention of 100,000 memories", retire.rows()),
        print_table("Documents", document.rows()),
        print_table("Mirrored files (baseline of a scan: os.scandir and stat)", files.rows()),
        print_table("Prompts (baseline: a bare SQL query, and pathspec on the tags)", compose.rows()),
        print_table("MCP server (baseline: an echo server on the official SDK)", mcp.rows()),
    ]
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
