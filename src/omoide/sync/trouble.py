"""Trouble with one mirrored file: which errors are one, and how it is put into words."""

from pathlib import Path

from omoide.errors import InvalidInput, OmoideError, Unwritable

FILE_TROUBLE = (InvalidInput, Unwritable, OSError, ValueError, OverflowError)
"""What reading, understanding or writing one file can end in. The other files of its mirror are synced all the same."""


def explain(path: Path, error: Exception) -> str:
    """Say which file it is, what is wrong with it, and what to do."""
    if not isinstance(error, OmoideError):
        return f"{path}: it cannot be synced ({error}) and was left alone: correct it, or move it away"
    told = str(error)
    return told if str(path) in told else f"{path}: {told}"
