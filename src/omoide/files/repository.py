"""What makes two checkouts the same repository: its root commits and its remote, asked of git.

Asking git costs processes, so that a directory is asked about once: its stamp (`repository_stamp`) shows whether the
answer may have changed since.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from omoide.compiled_patterns import load_pattern
from omoide.files.git import git_directory
from omoide.files.git_process import call_git
from omoide.model import RepositoryIdentity

_SCP = load_pattern(r"^(?:[^/@]+@)?(\[[^]]+\]|[^/:@]+):(?!//)(.*)$")
"""`git@host:owner/name`, without a scheme."""
_DEFAULT_PORTS = {"https": 443, "http": 80, "ssh": 22, "git": 9418}


def read_identity(root: Path) -> RepositoryIdentity:
    """Ask git for the root commits and the remote of the repository at `root`.

    A shallow clone has no root commits, a repository without a commit neither. Where git refuses (a directory of somebody
    else, as in a container) or takes too long, there are none, and the remote is read from the file of its settings.
    """
    directory = git_directory(root)
    if directory is None:
        return RepositoryIdentity()
    name, url = _remote(root, directory)
    remote = normalize_remote(url, root)
    if not remote.isascii() and any("\ud800" <= character <= "\udfff" for character in remote):
        remote = ""  # it is not UTF-8, so it cannot be stored: the root commits decide
    if (directory / "shallow").exists():
        return RepositoryIdentity((), remote)
    return RepositoryIdentity(_root_commits(root, name), remote)


def has_commit(root: Path, commits: Sequence[str]) -> bool:
    """Return whether the repository still has one of these commits, also where no branch leads to it any more."""
    return any(run_git(root, "cat-file", "-t", commit).strip() == "commit" for commit in commits)


def normalize_remote(url: str, root: Path) -> str:
    """Return a remote's address without scheme, user, default port and `.git`; of a local one, its absolute path."""
    url = url.strip()
    if not url:
        return ""
    parts = urlsplit(url) if "://" in url else None
    if parts is not None and parts.scheme != "file":
        host = (parts.hostname or "").lower()
        port = _port(parts.netloc, parts.scheme)
        return _strip_suffix(f"{host}{port}/{unquote(parts.path).strip('/')}")
    scp = None if parts else _SCP.match(url)
    if scp:
        return _strip_suffix(f"{scp[1].strip('[]').lower()}/{scp[2].strip('/')}")
    path = unquote(parts.path) if parts else url
    return str(Path(os.path.normpath(root / path))).rstrip("/") or "/"


def is_local(remote: str) -> bool:
    """Return whether a normalised remote is a directory of this machine."""
    return remote.startswith("/")


def _port(netloc: str, scheme: str) -> str:
    found = re.search(r":(\d+)$", netloc)
    return "" if not found or int(found[1]) == _DEFAULT_PORTS.get(scheme) else f":{found[1]}"


def _strip_suffix(address: str) -> str:
    # Hosting services ignore the case of owner and name in an address.
    return address.removesuffix("/").removesuffix(".git").removesuffix("/").lower()


def _root_commits(root: Path, remote: str) -> tuple[str, ...]:
    """The first commits of the branches, also of those of the remote.

    Only first parents count: the history of another repository that was merged into this one, as by `git subtree`, has a
    root commit too, and is not this repository. For the same reason other remotes and tags do not count.
    """
    question = ("rev-list", "--max-parents=0", "--first-parent", "--branches", f"--remotes={remote or 'origin'}")
    commits = run_git(root, *question, "HEAD") or run_git(root, *question)  # there is no HEAD on a branch without a commit
    return tuple(sorted(set(commits.split())))


def _remote(root: Path, directory: Path) -> tuple[str, str]:
    """The name and the address of `origin`, or else of the remote that a branch follows; empty if there is none."""
    question = ("config", "--get-regexp", r"^(remote\..*\.url|branch\..*\.remote)$")
    # A repository that git refuses has no settings for it; the file it reads, wherever that is.
    printed = run_git(root, *question) or run_git(root, "config", "--file", str(directory / "config"), *question[1:])
    values = [line.split(" ", 1) for line in printed.splitlines() if " " in line]
    urls: dict[str, str] = {}
    for key, value in values:
        if key.startswith("remote."):
            urls.setdefault(key.removeprefix("remote.").removesuffix(".url"), value)
    followed = [value for key, value in values if key.startswith("branch.")]
    name = next((name for name in ("origin", *followed) if name in urls), "")
    return name, urls.get(name, "")


def run_git(root: Path, *arguments: str) -> str:
    """What git prints; empty where it fails."""
    code, printed = call_git(root, *arguments)
    return printed if code == 0 else ""
