"""The settings that a repository makes for its own list: `config.toml` in the directory of the list."""

from pathlib import Path

from omoide.errors import Unreadable
from omoide.files.directory import Directory
from omoide.settings import Settings, override_for_repository

_NAME = "config.toml"
_LARGEST = 100_000
"""Bytes: it has a few lines."""


def with_repository_settings(settings: Settings, root: Path) -> tuple[Settings, list[str]]:
    """Return the settings with those of the repository at `root`, and warnings about what its file may not set.

    Raises Unreadable if the file cannot be read, is not TOML, or has a value that is not valid.
    """
    directory = Directory(root / settings.memories_directory)
    stat = directory.stat(_NAME) if directory.exists() else None
    if stat is not None and stat.size > _LARGEST:  # anybody may have written it, and parsing takes time
        raise Unreadable(f"{directory.root / _NAME} has {stat.size:,} bytes, at most {_LARGEST:,}: make it smaller")
    found = directory.read(_NAME) if stat is not None else None
    if found is None:
        return settings, []
    return override_for_repository(settings, found[0], directory.root / _NAME)
