"""The formats by name: which one a mirror speaks. A block speaks none: nothing of it is read back."""

from collections.abc import Collection
from importlib import import_module
from typing import Any

from omoide.markdown.format import Format
from omoide.model import Mirror

# Loaded when a mirror speaks it: most stores need one of them.
_HOMES = {
    "memories": ("single_file", "SingleFile"),
    "entries": ("file_per_memory", "FilePerMemory"),
    "tree": ("project_tree", "ProjectTree"),
}


def format_of(mirror: Mirror, types: Collection[str]) -> Format | None:
    if mirror.format not in _HOMES:
        return None
    module, name = _HOMES[mirror.format]
    made: Any = getattr(import_module(f"omoide.markdown.{module}"), name)
    if mirror.format == "memories":
        format: Format = made(mirror.file, types)
    elif mirror.format == "tree":
        format = made(mirror.scope.path)
    else:
        format = made()
    return format


def directories(format: Format | None) -> tuple[str, ...]:
    """Below the mirror's place, where its files are."""
    return getattr(format, "directories", ("",))
