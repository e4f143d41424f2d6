"""The lines of .gitattributes that let git merge what two branches added to a mirrored file."""

from collections.abc import Sequence
from pathlib import Path

from omoide.errors import Unwritable
from omoide.files.git import work_tree
from omoide.model import Mirror

FILE = ".gitattributes"
_UNION = "merge=union"
_TREE = ("MEMORY.md", "MEMORY_*.md", "pinned.md", "decisions.md")


def merged_files(mirror: Mirror) -> list[Path]:
    """Return the files of a mirror, or patterns of them, to which two branches may add entries.

    None in a directory of entry files, where two additions are two files, and no block, which is always rewritten.
    """
    place = Path(mirror.place)
    if mirror.format == "memories":
        return [place / mirror.file]
    return [place / mirror.scope.path / name for name in _TREE] if mirror.format == "tree" else []


def let_git_merge(files: Sequence[Path], *, add: bool) -> list[str]:
    """Return which lines would let git merge the additions of two branches to these files; with `add`, add them.

    Returns messages for a person, none where the repository has the lines. Raises Unwritable.
    """
    return _write(files) if add else _hints(files)


def _hints(files: Sequence[Path]) -> list[str]:
    missing = ", ".join(_missing(files, _root(files)))
    if not missing:
        return []
    return [f"git merges the additions of two branches without a conflict with {missing} in {FILE}: --gitattributes adds it"]


def _write(files: Sequence[Path]) -> list[str]:
    """Add the lines to .gitattributes of the repository, and return what was added."""
    root = _root(files)
    missing = _missing(files, root)
    if root is None or not missing:
        return []
    file = root / FILE
    try:
        before = file.read_bytes() if file.exists() else b""
        if before and not before.endswith(b"\n"):
            before += b"\n"
        file.write_bytes(before + "".join(f"{line}\n" for line in missing).encode())
    except OSError as error:
        raise Unwritable(f"{file} cannot be written ({error.strerror}): add {', '.join(missing)} yourself") from error
    return [f"added to {file}: {', '.join(missing)}"]


def _root(files: Sequence[Path]) -> Path | None:
    return work_tree(files[0].parent) if files else None


def _missing(files: Sequence[Path], root: Path | None) -> list[str]:
    """The lines that .gitattributes lacks. A file that has any line about merging there is left to its owner."""
    if root is None:
        return []
    file = root / FILE
    try:
        known = file.read_text(encoding="utf-8", errors="surrogateescape").splitlines() if file.exists() else []
    except OSError:  # fallback: as if it were missing; writing it says what is wrong
        known = []
    paths = [path.parent.resolve() / path.name for path in files]
    lines = [_line(path.relative_to(root)) for path in paths if path.is_relative_to(root)]
    about_merging = [line.lstrip("/") for line in known if "merge" in line]
    return [line for line in lines if not any(one.startswith(line.lstrip("/").split(" merge")[0]) for one in about_merging)]


def _line(path: Path) -> str:
    if not any(character.isspace() or character in '"\\' for character in str(path)):
        return f"/{path} {_UNION}"
    quoted = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"/{quoted}" {_UNION}'
