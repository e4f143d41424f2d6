"""The formats of an export and an import: JSON, JSONL and CSV."""

from pathlib import Path

from omoide.errors import InvalidInput

FORMATS = ("json", "jsonl", "csv")
HEADER = "omoide 1"
"""The value of `format` in a JSON file, which changes when an older omoide could not read the file any more."""
_SUFFIXES = {".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv"}


def format_of(path: str, given: str | None = None) -> str:
    """Return the format that was named, else the one that the file's suffix stands for.

    Raises InvalidInput if nothing was named and the suffix is none of ours.
    """
    found = given or _SUFFIXES.get(Path(path).suffix.lower())
    if found is None:
        raise InvalidInput(f"{path} does not show its format: name it with --format ({', '.join(FORMATS)})")
    return found
