"""The files of a server next to the database: their names, their mode, and errors that name them."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from omoide.errors import StoreReadOnly
from omoide.settings import Settings


def state_file(settings: Settings, suffix: str) -> Path:
    """Return the path of a file, from the full name of the database: team.alpha and team.beta are two stores."""
    return Path(f"{settings.store}.mcp.{suffix}")


@contextmanager
def file_errors(path: Path) -> Iterator[None]:
    """Raise StoreReadOnly for an OSError in the block. A missing file raises FileNotFoundError, for the caller to decide."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _unusable(path, error) from error


def open_private(path: Path, flags: int) -> int:
    """Open a file for its owner alone, and return the descriptor. Create it and its directories if they are missing.

    Raise StoreReadOnly if that fails.
    """
    try:
        # One by one: `mkdir(parents=True)` applies the mode to the last directory only.
        for directory in reversed([path.parent, *path.parent.parents]):
            directory.mkdir(mode=0o700, exist_ok=True)
        return os.open(path, flags | os.O_CREAT, 0o600)
    except OSError as error:
        raise _unusable(path, error) from error


def _unusable(path: Path, error: OSError) -> StoreReadOnly:
    return StoreReadOnly(f"cannot use {path} ({error.strerror}): choose another database with --store or OMOIDE_STORE")
