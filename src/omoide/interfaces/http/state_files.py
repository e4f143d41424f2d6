"""The server's own files beside the database: what they are called, and in words what stands in their way."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from omoide.errors import StoreReadOnly
from omoide.settings import Settings


def state_file(settings: Settings, what: str) -> Path:
    """Named after the whole name of the database: team.alpha and team.beta are two stores."""
    return Path(f"{settings.store}.mcp.{what}")


@contextmanager
def file_errors(path: Path) -> Iterator[None]:
    """Around what is done with a file. That it is not there yet is nobody's fault, and left to whoever asks."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _refusal(path, error) from error


def open_private(path: Path, flags: int) -> int:
    """The descriptor of a file for its owner alone; it and its directories are made where they are missing."""
    try:
        # One by one: `mkdir(parents=True)` gives the mode only to the last of them.
        for directory in reversed([path.parent, *path.parent.parents]):
            directory.mkdir(mode=0o700, exist_ok=True)
        return os.open(path, flags | os.O_CREAT, 0o600)
    except OSError as error:
        raise _refusal(path, error) from error


def _refusal(path: Path, error: OSError) -> StoreReadOnly:
    return StoreReadOnly(f"{path} cannot be used ({error.strerror}): choose another place with --store or OMOIDE_STORE")
