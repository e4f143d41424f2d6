"""Compare the estimate of tokens with real tokenizers, on the texts of this repository.

Needs node and npm: `gpt-tokenizer` is installed into a temporary directory, from where it works offline.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from omoide.prompt.tokens import estimate_tokens

ROOT = Path(__file__).resolve().parents[1]
LENGTH = 600
"""Characters of a text: about a long memory."""
WORST = 0.9
SOURCES = {
    "English": ("README.md", "CHANGELOG.md", "docs/*.md", "docs/decisions/*.md"),
    "Japanese": ("README.ja.md", "docs/ja/*.md"),
    "code": ("src/**/*.py", "src/**/*.sql", "Makefile", "pyproject.toml"),
}
_COUNT = """
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
const require = createRequire(process.argv[2] + '/');
const encodings = ['o200k_base', 'cl100k_base'].map(name => require('gpt-tokenizer/encoding/' + name));
const texts = JSON.parse(readFileSync(0, 'utf8'));
const count = (encoding, text) => encoding.encode(text, { disallowedSpecial: new Set() }).length;
console.log(JSON.stringify(texts.map(text => encodings.map(encoding => count(encoding, text)))));
"""


def texts(patterns: Sequence[str]) -> Iterator[str]:
    """Yield the files that match, in parts."""
    for pattern in patterns:
        for file in sorted(ROOT.glob(pattern)):
            text = file.read_text(encoding="utf-8")
            yield from (text[start : start + LENGTH] for start in range(0, len(text) - LENGTH, LENGTH))


def count_tokens(directory: Path, parts: Sequence[str]) -> list[tuple[int, int]]:
    """Return how many tokens o200k_base and cl100k_base count in each text."""
    script = directory / "count.mjs"
    script.write_text(_COUNT, encoding="utf-8")
    command = ["node", str(script), str(directory)]
    done = subprocess.run(command, input=json.dumps(parts), capture_output=True, text=True, check=True)
    return [tuple(pair) for pair in json.loads(done.stdout)]


def main() -> int:
    if shutil.which("npm") is None:
        print("npm is not installed: it provides the tokenizers to compare with", file=sys.stderr)
        return 1
    met = True
    print("| text | parts | o200k_base: lowest | median | highest | cl100k_base: lowest | median | claim | |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |")
    with tempfile.TemporaryDirectory() as place:
        install = ["npm", "install", "--silent", "--prefix", place, "gpt-tokenizer"]
        subprocess.run(install, check=True, stdout=subprocess.DEVNULL)
        for name, patterns in SOURCES.items():
            parts = list(texts(patterns))
            counts = count_tokens(Path(place), parts)
            columns = []
            for column in (0, 1):
                shares = [estimate_tokens(part) / pair[column] for part, pair in zip(parts, counts, strict=True)]
                columns.append(sorted(shares))
            new, old = columns
            is_met = new[0] >= WORST
            met = met and is_met
            print(
                f"| {name} | {len(parts)} | {new[0]:.2f} | {new[len(new) // 2]:.2f} | {new[-1]:.2f} | {old[0]:.2f}"
                f" | {old[len(old) // 2]:.2f} | lowest ≥ {WORST} | {'✓' if is_met else '✗'} |"
            )
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
