"""The settings that a repository makes for its own list: `config.toml` in the directory of the list."""

from pathlib import Path

from omoide.files.directory import Directory
from omoide.settings import Settings, override_for_repository

_NAME = "config.toml"


def with_repository_settings(settings: Settings, root: Path) -> tuple[Settings, list[str]]:
    """Return the settings with those of the repository at `root`, and warnings about what its file may not set.

    Raises Unreadable if the file cannot be read, is not TOML, or has a value that is not valid.
    """
    directory = Directory(root / settings.memories_directory)
    found = directory.read(_NAME) if directory.exists() else None
    if found is None:
        return settings, []
    return override_for_repository(settings, found[0], directory.root / _NAME)
