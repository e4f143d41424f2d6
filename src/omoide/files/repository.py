"""What makes two checkouts the same repository: its root commits and its remote, asked of git.

Asking git costs processes, so that a directory is asked about once: its stamp (`repository_stamp`) tells whether the answer
may have changed since.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from omoide.files.git import git_directory
from omoide.files.git_process import call_git
from omoide.model import RepositoryIdentity

_SCP = re.compile(r"^(?:[^/@]+@)?(\[[^]]+\]|[^/:@]+):(?!//)(.*)$")
"""`git@host:owner/name`, without a scheme."""
_DEFAULT_PORTS = {"https": 443, "http": 80, "ssh": 22, "git": 9418}


def read_identity(root: Path) -> RepositoryIdentity:
    """Ask git for the root commits and the remote of the repository at `root`.

    A shallow clone has no root commits, a repository without a commit neither. Where git is missing, refuses or takes too
    long, the identity is empty.
    """
    directory = git_directory(root)
    if directory is None:
        return RepositoryIdentity()
    remote = normalize_remote(_remote_url(root), root)
    if (directory / "shallow").exists():
        return RepositoryIdentity((), remote)
    commits = run_git(root, "rev-list", "--max-parents=0", "--all") or run_git(root, "rev-list", "--max-parents=0", "HEAD")
    return RepositoryIdentity(tuple(sorted(set(commits.split()))), remote)


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


def _remote_url(root: Path) -> str:
    """The address of `origin`, or of the first remote if there is no `origin`."""
    lines = run_git(root, "config", "--get-regexp", r"^remote\..*\.url$").splitlines()
    urls = dict(line.split(" ", 1) for line in reversed(lines) if " " in line)
    return urls.get("remote.origin.url", next(reversed(urls.values()), ""))


def run_git(root: Path, *arguments: str) -> str:
    """What git prints; empty where it fails."""
    code, printed = call_git(root, *arguments)
    return printed if code == 0 else ""
