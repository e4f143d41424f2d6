"""Names that are recorded although nobody chose them for omoide: ids of sessions, paths and branches. Without secrets."""

from pathlib import Path

from msgspec.structs import replace

from omoide.guard import secrets, validation
from omoide.model import HookCall, TreeFile, WorkTreeState

_OF_IDS = frozenset("0123456789abcdef-")


def identifier(text: str) -> str:
    """Return the name of a client, or its id of a session, as it is recorded. A UUID, as most ids are, is no secret."""
    return text if _OF_IDS.issuperset(text) else secrets.redact(text)


def transcript_path(text: str) -> str:
    """Return the path of a transcript; an empty text if it contains a secret: then it is not read."""
    return "" if validation.secret_in(text) else text


def directory_path(call: HookCall, root: Path | None) -> str:
    """Return the directory of a call; its repository if only what is below that contains a secret. Raises SecretFound."""
    if root is not None and validation.secret_in(call.directory):
        return validation.check_name(str(root), "directory")
    return validation.check_name(call.directory, "directory")


def read_work_tree(directory: Path) -> WorkTreeState | None:
    """Return the state of the work tree that a directory is in, without the files whose names contain a secret.

    None as `read_work_tree_state` says, and if the path of the work tree contains a secret.
    """
    from omoide.files.work_tree_state import read_work_tree_state  # lazy: it loads subprocess, and only learning needs it

    state = read_work_tree_state(directory)
    if state is None or validation.secret_in(state.root):
        return None
    files = tuple(file for file in state.files if not _has_secret(file))
    return replace(state, branch=secrets.redact(state.branch), files=files)


def _has_secret(file: TreeFile) -> bool:
    return bool(validation.secret_in(file.path))
