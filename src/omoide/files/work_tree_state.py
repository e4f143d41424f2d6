"""Read the state of a git work tree: its commit, and the files that differ from it. One process of git, bounded in size."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from omoide.files.directory_text import directory_text
from omoide.files.git import is_operation_in_progress, own_git_directory, work_tree
from omoide.files.git_process import call_git
from omoide.files.ordinary_file import open_ordinary_file
from omoide.model import TreeFile, WorkTreeState

MAX_FILES = 300
"""Files of a work tree that are read; what more of them differ from the commit are left out."""
MAX_TEXT = 64_000
"""Bytes of a file whose text is read."""
MAX_TEXTS = 1_000_000
"""Bytes of all texts together."""
_STATUS = ("status", "--porcelain=v2", "-z", "--branch", "--show-stash", "--untracked-files=all", "--no-renames")
_PERSONS_ACTIONS = ("commit", "commit (amend)", "commit (initial)", "revert")
"""What a person does to the files that are checked out, by the names in the log of HEAD; the rest git does: it checks
out, merges, rebases, resets or applies the work of others."""
_MOST_LOG = 100_000
"""Bytes of the log of HEAD that are read; with more of them, it is not known what git did."""


def read_work_tree_state(directory: Path) -> WorkTreeState | None:
    """Return the state of the work tree that a directory is in.

    None if it is in none, if git does not answer, and if its path is not UTF-8, so that it cannot be stored.
    """
    root = work_tree(directory) if directory.is_dir() else None
    if root is None or directory_text(root) != str(root):
        return None
    code, printed = call_git(root, *_STATUS)
    if code != 0:
        return None
    headers, paths = _parse_status(printed)
    branch = headers.get("branch.head", "")
    head = headers.get("branch.oid", "")
    return WorkTreeState(
        str(root),
        "" if head == "(initial)" else head,
        "" if branch == "(detached)" else branch,
        int(headers.get("stash", "0")),
        _log_size(root),
        tuple(read_files(root, sorted(paths)[:MAX_FILES])),
    )


def _parse_status(printed: str) -> tuple[dict[str, str], set[str]]:
    """The headers of a status, and the paths that differ: without submodules and what is no UTF-8."""
    headers, paths = dict[str, str](), set[str]()
    for entry in printed.split("\0"):
        kind, _, rest = entry.partition(" ")
        if kind == "#":
            name, _, value = rest.partition(" ")
            headers[name] = value
        elif kind == "?":
            paths.add(rest)
        elif kind in ("1", "u") and rest.split(" ", 2)[1].startswith("N"):  # "N...": no submodule
            paths.add(rest.split(" ", 7 if kind == "1" else 9)[-1])
    return headers, {path for path in paths if _is_plain(path)}


def _is_plain(path: str) -> bool:
    return path.isprintable() and not any("\ud800" <= character <= "\udfff" for character in path)


def read_files(root: Path, paths: Iterable[str]) -> Iterator[TreeFile]:
    """Yield files as they are in the work tree. The texts together have at most `MAX_TEXTS` bytes; links are left out."""
    room = MAX_TEXTS
    for path in paths:
        file = root / path
        try:
            if file.is_symlink():
                continue
            size = file.stat().st_size
            if size > MAX_TEXT or size > room:
                yield TreeFile(path, f"{size} bytes {file.stat().st_mtime_ns}")
                continue
            with open_ordinary_file(file) as opened:
                data = opened.read()
        except OSError:  # fallback: a file that is not there, or cannot be read, is a state like any other
            yield TreeFile(path)
            continue
        room -= len(data)
        yield TreeFile(path, hashlib.sha256(data).hexdigest(), decode(data))


def decode(data: bytes) -> str | None:
    """Return the text of a file, with line ends as `\\n`; None if it is no text."""
    if b"\0" in data or len(data) > MAX_TEXT:
        return None
    try:
        return data.decode().replace("\r\n", "\n")
    except UnicodeDecodeError:  # fallback: it is no text
        return None


def read_committed(root: Path, commit: str, paths: Sequence[str]) -> dict[str, str | None]:
    """Return the texts of files in a commit; None for one that is no text or too large. A file that it lacks is left out."""
    if not commit or not paths:
        return {}
    _, printed = call_git(root, "cat-file", "--batch-check", input=_questions(commit, paths))
    blobs = {
        path: int(line.split(" ")[2])
        for path, line in zip(paths, printed.splitlines(), strict=False)
        if line.endswith(tuple("0123456789")) and line.split(" ")[1:2] == ["blob"]
    }
    small = [path for path, size in blobs.items() if size <= MAX_TEXT]
    texts: dict[str, str | None] = dict.fromkeys(blobs)
    _, printed = call_git(root, "cat-file", "--batch", input=_questions(commit, small))
    answer, place = printed.encode(errors="surrogateescape"), 0
    for path in small:
        place = answer.find(b"\n", place) + 1
        texts[path] = decode(answer[place : place + blobs[path]])
        place += blobs[path] + 1
    return texts


def _questions(commit: str, paths: Sequence[str]) -> bytes:
    return "".join(f"{commit}:{path}\n" for path in paths).encode()


def commits_paths(root: Path, first: str, last: str, since: str = "") -> list[str]:
    """Return the paths that commits after `first` up to `last` changed, at most `MAX_FILES`.

    Merges do not count. `since`: only those that were committed at or after this moment (ISO 8601), which leaves out what
    was fetched from others.
    """
    if not last or first == last:
        return []
    commits = f"{first}..{last}" if first else last
    moment = [f"--since={since}"] if since else []
    code, printed = call_git(root, "log", "--no-merges", "--name-only", "-z", "--format=", *moment, commits, "--")
    paths = dict.fromkeys(printed.replace("\n", "\0").split("\0") if code == 0 else ())
    return [path for path in paths if path and _is_plain(path)][:MAX_FILES]


def head_at(root: Path, moment: str) -> str:
    """Return the commit that was checked out at a moment (ISO 8601), by the log of HEAD; empty if it is not known."""
    code, printed = call_git(root, "rev-parse", "--verify", "--quiet", f"HEAD@{{{moment}}}")
    return printed.strip() if code == 0 else ""


def is_persons_work(before: WorkTreeState, now: WorkTreeState) -> bool:
    """Return whether what changed between two states of a work tree was changed by a person, and not by git.

    Git changes files when it switches branches, merges, rebases, resets, or stashes. A person's commits do not. What git did
    is read from its log of HEAD.
    """
    root = Path(now.root)
    if before.branch != now.branch or before.stashes != now.stashes or is_operation_in_progress(root):
        return False
    actions = _logged_actions(root, before.log_size, now.log_size)
    if actions is None:  # git keeps no log, or has shortened it
        return before.head == now.head
    return all(action in _PERSONS_ACTIONS for action in actions)


def _log(root: Path) -> Path | None:
    own = own_git_directory(root)
    return None if own is None else own / "logs" / "HEAD"


def _log_size(root: Path) -> int:
    log = _log(root)
    try:
        return 0 if log is None else log.stat().st_size
    except OSError:  # fallback: there is none
        return 0


def _logged_actions(root: Path, start: int, end: int) -> list[str] | None:
    """What was done to HEAD between two sizes of its log: commit, checkout, rebase …; None if that is not known."""
    log = _log(root)
    if log is None or not end or end < start or end - start > _MOST_LOG:
        return None
    try:
        with log.open("rb") as file:
            file.seek(start)
            entries = file.read(end - start).decode(errors="replace").splitlines()
    except OSError:  # fallback: as without a log
        return None
    return [entry.partition("\t")[2].partition(":")[0] for entry in entries]
